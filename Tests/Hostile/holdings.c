// Attacks by what a handler holds while it is frozen: open files, locks, epoll descriptors, memory.
#define _GNU_SOURCE
#include "hostile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/// A file of the handler's own, in its state folder, where it starts.
static int own_file(const char *name) { return open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600); }

/// A child opens what it may, says so, and stays.
static void keep_open(long limit, int done) {
    tie_child(60);
    for (long count = 0; count < limit && own_file("held") >= 0; count++) {}
    (void)!write(done, "x", 1);
    hold();
}

/// Word: how many processes.
void open_files(const struct turn *turn) {
    int ends[2];
    char byte;
    if (!turn->is_first || pipe2(ends, O_CLOEXEC) < 0) return;
    long limit = raise_file_limit(), processes = number_of(turn->words, 0, 8);
    for (long index = 0; index < processes; index++)
        if (fork() == 0) keep_open(limit, ends[1]);
    close(ends[1]);
    for (long index = 0; index < processes; index++)
        if (read(ends[0], &byte, 1) != 1) break;
    close(ends[0]);
}

/// Apart from each other, so that the kernel cannot make one of them. Words: how many in all, and in how many files.
static void lock_many(int command, char **words) {
    long files = number_of(words, 1, 4), count = number_of(words, 0, 20000) / files;
    for (long number = 0; number < files; number++) {
        char name[32];
        snprintf(name, sizeof name, "locked-%ld", number);
        int file = own_file(name);
        for (long index = 0; index < count; index++) {
            struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2 * index, .l_len = 1};
            if (fcntl(file, command, &lock) < 0) break;
        }
    }
}

void lock_ranges(const struct turn *turn) {
    if (turn->is_first) lock_many(F_SETLK, turn->words);
}

void lock_descriptions(const struct turn *turn) {
    if (turn->is_first) lock_many(F_OFD_SETLK, turn->words);
}

/// Each of the epoll descriptors has every other descriptor in it. Word: how many of them.
void fill_epolls(const struct turn *turn) {
    if (!turn->is_first) return;
    long polls = number_of(turn->words, 0, 50), items = raise_file_limit() - polls - 8;
    int *events = calloc((size_t)items, sizeof *events);
    for (long index = 0; events && index < items; index++) events[index] = eventfd(0, EFD_CLOEXEC);
    for (long poll = 0; events && poll < polls; poll++) {
        int epoll = epoll_create1(EPOLL_CLOEXEC);
        struct epoll_event wish = {.events = EPOLLIN};
        for (long index = 0; index < items; index++)
            if (epoll_ctl(epoll, EPOLL_CTL_ADD, events[index], &wish) < 0) break;
    }
    free(events);
}

/// Word: how many MiB in all, 32 at each event.
void touch_memory(const struct turn *turn) {
    static long held;
    const size_t piece = 32 << 20;
    if (held >= number_of(turn->words, 0, 1024)) return;
    char *bytes = mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return;
    memset(bytes, 1, piece);
    held += 32;
}
