// The null handler: the least that a handler can do with what it is given.
#define _GNU_SOURCE
#include "benchmark_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/// The seq of the last event line in `text`, which ends with a newline; 0 where there is none.
static uint64_t last_sequence(const char *text, size_t length)
{
    static const char key[] = "\"seq\":";
    while (length > 0) {
        const char *before = memrchr(text, '\n', length - 1);
        const char *line = before ? before + 1 : text;
        const char *found = memmem(line, (size_t)(text + length - line), key, sizeof key - 1);
        if (found)
            return strtoull(found + sizeof key - 1, NULL, 10);
        length = (size_t)(line - text);
    }
    return 0;
}

/// How many lines have a seq.
static uint64_t count_events(const char *text, size_t length)
{
    static const char key[] = "\"seq\":";
    const char *end = text + length;
    uint64_t count = 0;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), key, sizeof key - 1)); count++)
        at = memchr(at, '\n', (size_t)(end - at));
    return count;
}

static int is_notice(const char *text, size_t length, const char *type)
{
    const char *end = memchr(text, '\n', length);
    return memmem(text, (size_t)(end - text), type, strlen(type)) != NULL;
}

static void acknowledge(uint64_t sequence)
{
    char reply[40];
    int length = snprintf(reply, sizeof reply, "{\"ack\":%llu}\n", (unsigned long long)sequence);
    if (write(3, reply, (size_t)length) < 0)
        exit(1);
}

/// All events since the last read came with this one; what is older than the board remembers is left out.
static void stamp(struct benchmark_board *board, uint64_t sequence, int64_t read_at)
{
    uint64_t first = board->sequence + 1;
    if (first + BENCHMARK_STAMPS <= sequence)
        first = sequence + 1 - BENCHMARK_STAMPS;
    for (uint64_t each = first; each <= sequence; each++)
        __atomic_store_n(&board->stamps[each % BENCHMARK_STAMPS], read_at, __ATOMIC_RELEASE);
}

static void note(struct benchmark_board *board, uint64_t sequence, int64_t read_at)
{
    stamp(board, sequence, read_at);
    __atomic_store_n(&board->read_at, read_at, __ATOMIC_RELEASE);
    __atomic_store_n(&board->sequence, sequence, __ATOMIC_RELEASE);
    __atomic_add_fetch(&board->reads, 1, __ATOMIC_RELEASE);
}

/// Takes whole lines; returns how many bytes they were.
static size_t take(struct benchmark_board *board, const char *text, size_t length, int64_t read_at, uint64_t *answers)
{
    const char *end = memrchr(text, '\n', length);
    if (!end)
        return 0;
    size_t whole = (size_t)(end + 1 - text);
    if (is_notice(text, whole, "wakebridge.expiring"))
        __atomic_store_n(&board->expiring_at, read_at, __ATOMIC_RELEASE);
    uint64_t sequence = last_sequence(text, whole);
    if (sequence == 0)
        return whole;
    if (is_notice(text, whole, "wakebridge.resumed")) {
        memcpy(board->thaw, text, whole < sizeof board->thaw ? whole : sizeof board->thaw - 1);
        __atomic_add_fetch(&board->resumed, 1, __ATOMIC_RELEASE);
    }
    if (board->counts)
        __atomic_add_fetch(&board->events, count_events(text, whole), __ATOMIC_RELEASE);
    note(board, sequence, read_at);
    if (*answers > 0) {
        --*answers;
        acknowledge(sequence);
    }
    return whole;
}

void benchmark_handle(struct benchmark_board *board, uint64_t answers)
{
    static char text[8 << 20]; // the first line after a launch names every device
    size_t held = 0;
    for (;;) {
        ssize_t count = read(0, text + held, sizeof text - held);
        int64_t read_at = benchmark_now(CLOCK_MONOTONIC);
        if (count <= 0)
            return;
        held += (size_t)count;
        size_t taken = take(board, text, held, read_at, &answers);
        held -= taken;
        memmove(text, text + taken, held);
    }
}
