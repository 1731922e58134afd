// When cgroups froze, as the kernel tells everybody: seen from a process that has nothing to do with it.
#define _GNU_SOURCE
#include "benchmark_probe.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static int is_frozen(int events)
{
    char text[128];
    ssize_t count = pread(events, text, sizeof text - 1, 0);
    if (count < 0)
        return -errno;
    text[count] = 0;
    return strstr(text, "frozen 1") != NULL;
}

/// Whoever is frozen has a stamp from then on. Returns 1 for a new one.
static int look(int events, int64_t at, int64_t *stamp)
{
    int frozen = is_frozen(events);
    if (frozen <= 0 || *stamp != 0)
        return frozen < 0 ? frozen : 0;
    *stamp = at;
    return 1;
}

static int watch(const int *events, int count)
{
    int loop = epoll_create1(EPOLL_CLOEXEC);
    for (int index = 0; loop >= 0 && index < count; index++) {
        struct epoll_event event = {.events = EPOLLPRI | EPOLLET, .data.u32 = (uint32_t)index};
        if (epoll_ctl(loop, EPOLL_CTL_ADD, events[index], &event) < 0)
            return -errno;
    }
    return loop < 0 ? -errno : loop;
}

int benchmark_watch_freezes(const int *events, int count, int milliseconds, int64_t *stamps)
{
    int loop = watch(events, count);
    if (loop < 0)
        return loop;
    int seen = 0;
    int64_t end = benchmark_now(CLOCK_MONOTONIC) + (int64_t)milliseconds * 1000000;
    while (seen < count && benchmark_now(CLOCK_MONOTONIC) < end) {
        struct epoll_event told[64];
        int changes = epoll_wait(loop, told, 64, 10);
        int64_t at = benchmark_now(CLOCK_MONOTONIC);
        for (int index = 0; index < changes; index++) {
            uint32_t which = told[index].data.u32;
            int result = look(events[which], at, &stamps[which]);
            if (result < 0)
                return result;
            seen += result;
        }
    }
    close(loop);
    return seen;
}
