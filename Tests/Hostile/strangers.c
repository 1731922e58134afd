// Attacks of processes that are no handlers: a file that changes what it is, and callers without a permission.
#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char text[4096];
static size_t length;

static void remember(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, sizeof text);
    length = count < 0 ? 0 : (size_t)count;
    close(file);
}

static void make_regular(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    (void)!write(file, text, length);
    close(file);
}

/// Grows by 64 KiB 64 times, while it may be read.
static void make_growing(const char *path) {
    static char block[1 << 16];
    memset(block, ' ', sizeof block);
    make_regular(path);
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    for (int round = 0; round < 64; round++) {
        (void)!write(file, block, sizeof block);
        usleep(500);
    }
    close(file);
}

int swap_file(char **words) {
    const char *path = words[0];
    double end = now() + (double)number_of(words, 1, 3);
    alarm(60);
    for (remember(path); now() < end;) {
        unlink(path);
        if (mkfifo(path, 0644) == 0) usleep(60000);
        unlink(path);
        if (mkdir(path, 0755) == 0) usleep(20000);
        rmdir(path);
        make_growing(path);
        make_regular(path);
        usleep(20000);
    }
    return 0;
}

/// Asks and reads the answer; false where the connection is refused.
static int call(const struct sockaddr_un *address) {
    static const char request[] = "GET /v1/status HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n";
    char answer[4096];
    int channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int connected = connect(channel, (const struct sockaddr *)address, sizeof *address) == 0;
    if (connected && send(channel, request, sizeof request - 1, MSG_NOSIGNAL) > 0)
        while (read(channel, answer, sizeof answer) > 0) {}
    close(channel);
    return connected;
}

/// Where the kernel refuses, it asks a thousand times a second: more would only take the processor from others.
int connect_much(char **words) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, words[0], sizeof address.sun_path - 1);
    long calls = 0, refusals = 0;
    alarm(60);
    for (double end = now() + (double)number_of(words, 1, 3); now() < end; calls++) {
        if (call(&address)) continue;
        refusals++;
        usleep(1000);
    }
    printf("%ld calls, %ld refused\n", calls, refusals);
    return 0;
}
