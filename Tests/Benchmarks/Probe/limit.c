// The limit: the calls that the kernel needs for one wake, and nothing else between them.
#define _GNU_SOURCE
#include "benchmark_probe.h"
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SOURCE UINT32_MAX

struct run {
    const struct benchmark_way *way;
    int next;      // who is woken next
    int unanswered;
    int owed[];    // by handler, how many lines it has not answered
};

static int watch(int loop, int descriptor, uint32_t name)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = name};
    return epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event);
}

static int thaw(const struct benchmark_end *end)
{
    return pwrite(end->freezer, "0", 1, 0) < 0 ? -1 : 1;
}

static int wake(struct run *run)
{
    char bytes[256];
    ssize_t count = read(run->way->source, bytes, sizeof bytes);
    if (count <= 0)
        return (int)count;
    int index = run->next;
    // Far from the one before, as a bridge's devices speak in its benchmark.
    run->next = (index + 7919) % run->way->count;
    run->owed[index]++;
    run->unanswered++;
    const struct benchmark_end *end = &run->way->ends[index];
    return write(end->input, event_line, sizeof event_line - 1) < 0 ? -1 : thaw(end);
}

static int has_unread(const struct benchmark_end *end)
{
    int unread = 0;
    return ioctl(end->input, FIONREAD, &unread) == 0 && unread > 0;
}

/// On a busy machine the next event may come before the answer to the last: who has a line to read is not frozen.
static int settle(struct run *run, uint32_t index)
{
    char bytes[256];
    const struct benchmark_end *end = &run->way->ends[index];
    ssize_t count = read(end->replies, bytes, sizeof bytes);
    if (count == 0)
        errno = EPIPE;
    if (count <= 0)
        return -1;
    if (run->owed[index] > 1 && has_unread(end))
        return 1;
    run->unanswered -= run->owed[index];
    run->owed[index] = 0;
    return pwrite(end->freezer, "1", 1, 0) < 0 ? -1 : 1;
}

/// An answer that came later still may have frozen it over a line; nothing else takes so long.
static int rescue(const struct run *run)
{
    for (int index = 0; index < run->way->count; index++)
        if (run->owed[index] > 0 && has_unread(&run->way->ends[index]) && thaw(&run->way->ends[index]) < 0)
            return -1;
    return 1;
}

static int step(int loop, struct run *run)
{
    struct epoll_event event;
    int count = epoll_wait(loop, &event, 1, run->unanswered > 0 ? 100 : -1);
    if (count < 0)
        return errno == EINTR ? 1 : -1;
    if (count == 0)
        return rescue(run);
    return event.data.u32 == SOURCE ? wake(run) : settle(run, event.data.u32);
}

static int begin(int loop, const struct benchmark_way *way)
{
    for (int index = 0; index < way->count; index++)
        if (watch(loop, way->ends[index].replies, (uint32_t)index) < 0)
            return -1;
    return watch(loop, way->source, SOURCE);
}

int benchmark_pass_on(const struct benchmark_way *way)
{
    int loop = epoll_create1(EPOLL_CLOEXEC);
    struct run *run = calloc(1, sizeof *run + (size_t)way->count * sizeof run->owed[0]);
    int result = loop < 0 || !run ? -1 : begin(loop, way) < 0 ? -1 : 1;
    if (run)
        run->way = way;
    while (result > 0)
        result = step(loop, run);
    int code = result == 0 ? 0 : -errno;
    free(run);
    close(loop);
    return code;
}
