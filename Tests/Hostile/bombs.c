// Attacks by number: processes and threads, some more at each event, up to a bound that this machine survives.
#define _GNU_SOURCE
#include "hostile.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/// New tasks at an event.
#define WAVE 200

/// Counts tasks of all processes together.
static atomic_long *shared_count(void) {
    static atomic_long *count;
    if (!count)
        count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return count;
}

/// Every child does as its parent does, until there are enough.
static void multiply(atomic_long *count, long enough) {
    while (atomic_fetch_add(count, 1) < enough) {
        pid_t child = fork();
        if (child < 0) break;
        if (child == 0) tie_child(30);
    }
    atomic_fetch_sub(count, 1);
}

/// Past the bound, children that end at once.
static void churn(void) {
    for (int index = 0; index < WAVE; index++)
        if (fork() == 0) _exit(0);
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
}

/// Words: how many in all, and whether they work rather than wait.
void fork_much(const struct turn *turn) {
    atomic_long *count = shared_count();
    long most = number_of(turn->words, 0, 3000), before = atomic_load(count);
    if (before >= most) return churn();
    pid_t own = getpid();
    multiply(count, before + WAVE);
    if (getpid() == own) return;
    while (number_of(turn->words, 1, 0)) {}
    hold();
}

static void *stay(void *nothing) {
    (void)nothing;
    hold();
}

/// Word: how many in all.
void start_threads(const struct turn *turn) {
    static long started;
    pthread_attr_t settings;
    pthread_t thread;
    pthread_attr_init(&settings);
    pthread_attr_setstacksize(&settings, 32768);
    for (int index = 0; index < WAVE && started < number_of(turn->words, 0, 3000); index++)
        if (pthread_create(&thread, &settings, stay, NULL) == 0) started++;
    pthread_attr_destroy(&settings);
}
