// The shared board: one mapping, plain words with release and acquire order; and what a process asks for itself.
#define _GNU_SOURCE
#include "benchmark_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct benchmark_board *benchmark_board(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return NULL;
    void *page = ftruncate(file, sizeof(struct benchmark_board)) < 0
        ? MAP_FAILED
        : mmap(NULL, sizeof(struct benchmark_board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return page == MAP_FAILED ? NULL : page;
}

int64_t benchmark_read_at(const struct benchmark_board *board)
{
    return __atomic_load_n(&board->read_at, __ATOMIC_ACQUIRE);
}
uint64_t benchmark_reads(const struct benchmark_board *board)
{
    return __atomic_load_n(&board->reads, __ATOMIC_ACQUIRE);
}
uint64_t benchmark_resumed(const struct benchmark_board *board)
{
    return __atomic_load_n(&board->resumed, __ATOMIC_ACQUIRE);
}
uint64_t benchmark_sequence(const struct benchmark_board *board)
{
    return __atomic_load_n(&board->sequence, __ATOMIC_ACQUIRE);
}
int64_t benchmark_expiring_at(const struct benchmark_board *board)
{
    return __atomic_load_n(&board->expiring_at, __ATOMIC_ACQUIRE);
}

void benchmark_count_events(struct benchmark_board *board)
{
    __atomic_store_n(&board->counts, 1, __ATOMIC_RELEASE);
}
uint64_t benchmark_events(const struct benchmark_board *board)
{
    return __atomic_load_n(&board->events, __ATOMIC_ACQUIRE);
}

int64_t benchmark_woken_at(const struct benchmark_board *board)
{
    static const char key[] = "\"time\":\"";
    const char *found = memmem(board->thaw, sizeof board->thaw, key, sizeof key - 1);
    struct tm date = {0};
    const char *fraction = found ? strptime(found + sizeof key - 1, "%Y-%m-%dT%H:%M:%S", &date) : NULL;
    if (!fraction || *fraction != '.')
        return 0;
    int64_t wall = (int64_t)timegm(&date) * 1000000000 + strtoll(fraction + 1, NULL, 10) * 1000;
    return wall - benchmark_now(CLOCK_REALTIME) + benchmark_now(CLOCK_MONOTONIC);
}
int64_t benchmark_stamp(const struct benchmark_board *board, uint64_t sequence)
{
    return __atomic_load_n(&board->stamps[sequence % BENCHMARK_STAMPS], __ATOMIC_ACQUIRE);
}

int benchmark_take_precedence(void)
{
    struct sched_param first = {.sched_priority = 1};
    return sched_setscheduler(0, SCHED_FIFO, &first) < 0 ? -errno : 0;
}

int benchmark_open_many(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -errno;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 0;
}
