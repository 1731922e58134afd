// A hostile program for the tests: a handler that acknowledges its events and attacks beside it, or a stranger's process.
//
//   attacker ATTACK FIRST [WORD...]   as a handler; attacks from beat number FIRST on
//   attacker swap FILE SECONDS        turns FILE into a FIFO, a directory and a growing file, and back
//   attacker connect SOCKET SECONDS   connects to the control socket over and over
//   attacker peers FILE SECONDS       takes connections and never reads from them; its port stands in FILE
//   attacker fill PATH SECONDS LINGER takes connections at PATH, and fills each with a socket whose close waits for LINGER seconds
//
// What an attack leaves running or allocated is bounded, so that the machine survives where nothing else bounds it.
#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*act)(const struct turn *turn);
} attacks[] = {
    {"linger-replies", linger_on_replies}, {"linger-notices", linger_on_notices}, {"linger-exit", linger_and_exit},
    {"files", open_files},                 {"forks", fork_much},                  {"threads", start_threads},
    {"memory", touch_memory},              {"flood-replies", flood_replies},      {"flood-log", flood_log},
    {"flood-notices", flood_notices},      {"range-locks", lock_ranges},          {"description-locks", lock_descriptions},
    {"epolls", fill_epolls},               {"steal", steal},                      {"linger-held", linger_on_held},
    {"filled", give_up_filled},            {"linger-channel", linger_on_channel}, {"lock-held", keep_lock_of_held},
    {"exchange-paths", exchange_paths},    {"order-paths", order_paths},
};

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

long number_of(char **words, int place, long otherwise) {
    for (int index = 0; index <= place; index++)
        if (!words[index]) return otherwise;
    return atol(words[place]);
}

long raise_file_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > 20000 ? 20000 : (long)limit.rlim_cur;
}

void tie_child(unsigned seconds) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    alarm(seconds);
}

_Noreturn void hold(void) {
    for (;;) pause();
}

static pthread_mutex_t voice = PTHREAD_MUTEX_INITIALIZER;

void say(const char *line, size_t size) {
    pthread_mutex_lock(&voice);
    while (size > 0) {
        ssize_t count = write(3, line, size);
        if (count < 0 && errno != EINTR) break;
        if (count > 0) line += count, size -= (size_t)count;
    }
    pthread_mutex_unlock(&voice);
}

static int leaves;

void leave_after_answer(void) { leaves = 1; }

static void acknowledge(const char *sequence) {
    char line[64];
    say(line, (size_t)snprintf(line, sizeof line, "{\"ack\":%lu}\n", strtoul(sequence, NULL, 10)));
}

/// The number of the beat, which is the second byte of its data; -1 for an event that is no beat.
static long beat_of(const char *line) {
    const char *raw = strstr(line, "\"raw\":\"00");
    return raw ? (long)strtoul(raw + 9, NULL, 16) : -1;
}

static void serve(void (*attack)(const struct turn *turn), long first, char **words) {
    char *line = NULL;
    size_t capacity = 0;
    struct turn turn = {.is_first = 1, .words = words};
    while (getline(&line, &capacity, stdin) > 0) {
        const char *sequence = strstr(line, "\"seq\":");
        if (!sequence) continue;
        long beat = beat_of(line);
        turn.number = (unsigned)(beat - first);
        if (beat >= first) attack(&turn), turn.is_first = 0;
        acknowledge(sequence + 6);
        if (leaves) _exit(0);
    }
}

int main(int count, char **words) {
    signal(SIGPIPE, SIG_IGN);
    if (count > 3 && strcmp(words[1], "swap") == 0) return swap_file(words + 2);
    if (count > 3 && strcmp(words[1], "connect") == 0) return connect_much(words + 2);
    if (count > 3 && strcmp(words[1], "peers") == 0) return keep_peers(words + 2);
    if (count > 4 && strcmp(words[1], "fill") == 0) return fill_callers(words + 2);
    for (size_t index = 0; count > 2 && index < sizeof attacks / sizeof attacks[0]; index++) {
        if (strcmp(words[1], attacks[index].name)) continue;
        serve(attacks[index].act, atol(words[2]), words + 3);
        return 0;
    }
    fprintf(stderr, "attacker: no such attack\n");
    return 2;
}
