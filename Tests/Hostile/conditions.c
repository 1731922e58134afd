// Attacks by paths that a handler waits for: a path that alternates with root's node, and paths that are long and many.
#define _GNU_SOURCE
#include "hostile.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;
static const char *book;
static double end;

static void begin(const struct turn *turn, void *(*work)(void *)) {
    folder = getenv("WAKEBRIDGE_STATE_DIR");
    book = turn->words[0];
    end = now() + (double)number_of(turn->words, 1, 3);
    if (!folder || !book || chdir(folder) < 0) return;
    pthread_t thread;
    if (!pthread_create(&thread, NULL, work, turn->words[2])) pthread_detach(thread);
}

/// So often is enough. A frozen handler never comes to the end of its attack.
static const long enough = 200;

static void write_down(long count) {
    if (count != enough) return;
    FILE *file = fopen(book, "w");
    if (!file) return;
    fprintf(file, "%ld\n", count);
    fclose(file);
}

/// Orders a job, which never runs, that waits for paths in the handler's own folder.
static void submit(const char *job, int paths, int depth) {
    static char line[64 << 10];
    size_t length = (size_t)snprintf(line, sizeof line, "{\"submit\":{\"job\":\"%s\",\"require\":[\"mount:/nowhere\"", job);
    for (int path = 0; path < paths; path++) {
        length += (size_t)snprintf(line + length, sizeof line - length, ",\"unlocked:%s/%s%d", folder, job, path);
        for (int step = 0; step < depth; step++) length += (size_t)snprintf(line + length, sizeof line - length, "/a");
        length += (size_t)snprintf(line + length, sizeof line - length, "\"");
    }
    length += (size_t)snprintf(line + length, sizeof line - length, "]}}\n");
    if (length < sizeof line) say(line, length);
}

static void make_folders(const char *job, int paths, int depth) {
    for (int path = 0; path < paths; path++) {
        char name[512];
        size_t length = (size_t)snprintf(name, sizeof name, "%s%d", job, path);
        mkdir(name, 0700);
        for (int step = 0; step < depth && length + 3 < sizeof name; step++) {
            memcpy(name + length, "/a", 3);
            length += 2;
            mkdir(name, 0700);
        }
    }
}

static void *exchange(void *node) {
    int file = open("flip0", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file >= 0) close(file);
    unlink("other");
    if (symlink(node, "other") < 0) return NULL;
    submit("flip", 1, 0);
    long count = 0;
    for (; now() < end; write_down(++count)) renameat2(AT_FDCWD, "flip0", AT_FDCWD, "other", RENAME_EXCHANGE);
    return NULL;
}

/// Arguments: a file to write once it was exchanged often enough, the seconds to run, and a node that only root may open.
void exchange_paths(const struct turn *turn) {
    if (turn->number == 0) begin(turn, exchange);
}

static void *change(void *unused) {
    (void)unused;
    char job[] = "long0";
    for (; job[4] < '8'; job[4]++) submit(job, 15, 1900);
    // The mount counts as a path too, so these are five, and four is the limit.
    submit("many", 4, 0);
    make_folders("few", 3, 24);
    submit("few", 3, 24);
    long count = 0;
    for (; now() < end; write_down(++count)) {
        int file = open("few0/touched", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0) close(file);
        unlink("few0/touched");
    }
    return NULL;
}

/// Arguments: a file to write once a folder on the way was changed often enough, and the seconds to run.
void order_paths(const struct turn *turn) {
    if (turn->number == 0) begin(turn, change);
}
