// Accepts connections for libmicrohttpd, whose own loop would accept all that wait, however long each takes.
#define _GNU_SOURCE
#include "CMicrohttpd.h"

int wake_http_accept(struct MHD_Daemon *daemon, int listening) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int connection = accept4(listening, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) return -errno;
    // The library closes the connection where it cannot add it.
    wake_http_calls.MHD_add_connection(daemon, connection, (struct sockaddr *)&address, size);
    return 0;
}
