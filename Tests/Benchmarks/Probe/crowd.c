// The limit of a crowd: one process that wakes, warns and freezes many at once, and does nothing else between the calls.
#define _GNU_SOURCE
#include "benchmark_probe.h"
#include "lines.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int await(int timer, int64_t due)
{
    struct itimerspec time = {.it_value = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000}};
    uint64_t times;
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL) < 0)
        return -1;
    return read(timer, &times, sizeof times) < 0 ? -1 : 0;
}

/// The line says when it was written, as the bridge's does.
static size_t compose(char *line, int64_t *written_at)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    *written_at = benchmark_now(CLOCK_MONOTONIC);
    struct tm date;
    gmtime_r(&wall.tv_sec, &date);
    memcpy(line, event_line, sizeof event_line - 1);
    char *time = strstr(line, "\"time\":\"") + 8;
    time[strftime(time, 20, "%Y-%m-%dT%H:%M:%S", &date)] = '.';
    long fraction = wall.tv_nsec / 1000;
    for (char *digit = time + 25; digit > time + 19; digit--, fraction /= 10)
        *digit = (char)('0' + fraction % 10);
    return sizeof event_line - 1;
}

/// Written first and thawed then, one after the other, as the bridge does it. Their time begins with the writing.
static int wake(const struct benchmark_crowd *crowd, int64_t *begins)
{
    char line[sizeof event_line];
    for (int index = 0; index < crowd->count; index++) {
        size_t length = compose(line, &begins[index]);
        if (write(crowd->inputs[index], line, length) < 0 || pwrite(crowd->freezers[index], "0", 1, 0) < 0)
            return -1;
    }
    return 0;
}

static int warn(const struct benchmark_crowd *crowd, int index)
{
    return write(crowd->inputs[index], warning_line, sizeof warning_line - 1) < 0 ? -1 : 0;
}

static int freeze(const struct benchmark_crowd *crowd, int index)
{
    return pwrite(crowd->freezers[index], "1", 1, 0) < 0 ? -1 : 0;
}

/// Each when it is due; who is due already is not waited for.
static int each(const struct benchmark_crowd *crowd, int timer, const int64_t *begins, int64_t after,
                int (*act)(const struct benchmark_crowd *, int))
{
    for (int index = 0; index < crowd->count; index++) {
        int64_t due = begins[index] + after;
        if ((due > benchmark_now(CLOCK_MONOTONIC) && await(timer, due) < 0) || act(crowd, index) < 0)
            return -1;
    }
    return 0;
}

static int lead(const struct benchmark_crowd *crowd, int timer, int64_t *begins)
{
    for (;;) {
        char bytes[256];
        ssize_t count = read(crowd->source, bytes, sizeof bytes);
        if (count <= 0)
            return (int)count;
        int64_t start = benchmark_now(CLOCK_MONOTONIC);
        if (wake(crowd, begins) < 0)
            return -1;
        for (int index = 0; crowd->at_once && index < crowd->count; index++)
            begins[index] = start;
        if (each(crowd, timer, begins, crowd->warn_after, warn) < 0)
            return -1;
        if (each(crowd, timer, begins, crowd->freeze_after, freeze) < 0)
            return -1;
    }
}

int benchmark_lead(const struct benchmark_crowd *crowd)
{
    int64_t begins[crowd->count];
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    int result = timer < 0 ? -1 : lead(crowd, timer, begins);
    int code = result < 0 ? -errno : 0;
    if (timer >= 0)
        close(timer);
    return code;
}
