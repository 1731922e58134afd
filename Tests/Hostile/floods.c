// Attacks by what a handler says: replies as long as they may be with thousands of keys, and log lines without an end.
#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// One object on one line; returns its length, the newline's included.
static size_t compose(char *line, size_t capacity, int keys) {
    size_t length = (size_t)snprintf(line, capacity, "{\"k\":0");
    for (int key = 0; key < keys && length + 32 < capacity; key++)
        length += (size_t)snprintf(line + length, capacity - length, ",\"%d\":1", key);
    return length + (size_t)snprintf(line + length, capacity - length, "}\n");
}

/// Words: for how many seconds, and how many keys a line has.
void flood_replies(const struct turn *turn) {
    static char line[128 << 10];
    if (turn->number) return;
    size_t length = compose(line, sizeof line, (int)number_of(turn->words, 1, 12000));
    long lines = 0;
    for (double end = now() + (double)number_of(turn->words, 0, 3); now() < end; lines++) say(line, length);
    fprintf(stderr, "attacker: %ld lines of %zu bytes\n", lines, length);
}

/// Words: for how many seconds. Both streams by turns, as much of the block as each takes, and never a newline.
void flood_log(const struct turn *turn) {
    static char block[1 << 16];
    if (turn->number) return;
    memset(block, 'x', sizeof block);
    struct pollfd streams[] = {{.fd = 1, .events = POLLOUT}, {.fd = 2, .events = POLLOUT}};
    for (double end = now() + (double)number_of(turn->words, 0, 3); now() < end;) {
        if (poll(streams, 2, 100) < 0 && errno != EINTR) return;
        // What a pipe takes at least, where it takes anything.
        for (int index = 0; index < 2; index++)
            if (streams[index].revents && write(streams[index].fd, block, 4096) < 0) return;
    }
}
