// Accepting connections for libmicrohttpd: its own loop would take as many as wait, however long each takes.
#define _GNU_SOURCE
#include "CMicrohttpd.h"

int wake_http_accept(struct MHD_Daemon *daemon, int listening) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int connection = accept4(listening, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) return -errno;
    // Closes it where that fails.
    wake_http_calls.MHD_add_connection(daemon, connection, (struct sockaddr *)&address, size);
    return 0;
}
