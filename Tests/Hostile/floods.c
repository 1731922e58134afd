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

static void write_down(const char *path, long bytes) {
    FILE *book = fopen(path, "w");
    if (!book) return;
    fprintf(book, "%ld\n", bytes);
    fclose(book);
}

/// Words: where to write down how many bytes went, for how many seconds, and how many keys a line has.
void flood_replies(const struct turn *turn) {
    static char line[128 << 10];
    if (turn->number || !turn->words[0]) return;
    size_t length = compose(line, sizeof line, (int)number_of(turn->words, 2, 12000));
    long bytes = 0;
    for (double end = now() + (double)number_of(turn->words, 1, 3); now() < end; bytes += (long)length)
        say(line, length);
    write_down(turn->words[0], bytes);
}

/// Words: where to write down how many bytes went, and for how many seconds. Both streams by turns, and never a newline.
void flood_log(const struct turn *turn) {
    static char block[4096];
    if (turn->number || !turn->words[0]) return;
    memset(block, 'x', sizeof block);
    struct pollfd streams[] = {{.fd = 1, .events = POLLOUT}, {.fd = 2, .events = POLLOUT}};
    long bytes = 0;
    for (double end = now() + (double)number_of(turn->words, 1, 3); now() < end;) {
        if (poll(streams, 2, 100) < 0 && errno != EINTR) break;
        // What a pipe takes at least, where it takes anything.
        for (int index = 0; index < 2; index++)
            if (streams[index].revents) bytes += write(streams[index].fd, block, sizeof block);
    }
    write_down(turn->words[0], bytes);
}
