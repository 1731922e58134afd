// The limit: the calls that the kernel needs for one wake, and nothing else between them.
#define _GNU_SOURCE
#include "benchmark_probe.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

// As long as what the bridge writes for the same event: the notice of the thaw, and the event.
static const char line[] =
    "{\"specversion\":\"1.0\",\"id\":\"j1-n1795251722000000-1042\",\"source\":\"/wakebridge\",\"type\":\"wakebridge.resumed\","
    "\"time\":\"2026-11-21T07:42:46.727125Z\",\"datacontenttype\":\"application/json\",\"data\":{\"frozen_for_ms\":1,"
    "\"reason\":\"data\",\"open\":[]}}\n"
    "{\"specversion\":\"1.0\",\"id\":\"j1-1042\",\"source\":\"/bluetooth/C0:F1:F2:F3:F4:01\",\"type\":\"wakebridge.device.data\","
    "\"subject\":\"chest-strap\",\"time\":\"2026-11-21T07:42:46.727125Z\",\"datacontenttype\":\"application/json\",\"seq\":1042,"
    "\"attempt\":1,\"budgetms\":10000,\"data\":{\"profile\":\"heart-rate-monitor\",\"characteristic\":\"2a37\","
    "\"value\":{\"bpm\":60,\"contact\":true,\"rr_s\":[0.992]},\"raw\":\"163cf803\"}}\n";

static int watch(int loop, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    return epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event);
}

static int wake(const struct benchmark_way *way)
{
    char bytes[256];
    ssize_t count = read(way->source, bytes, sizeof bytes);
    if (count <= 0)
        return (int)count;
    if (write(way->input, line, sizeof line - 1) < 0 || pwrite(way->freezer, "0", 1, 0) < 0)
        return -1;
    return 1;
}

static int settle(const struct benchmark_way *way)
{
    char bytes[256];
    ssize_t count = read(way->replies, bytes, sizeof bytes);
    if (count <= 0)
        return -1;
    return pwrite(way->freezer, "1", 1, 0) < 0 ? -1 : 1;
}

int benchmark_pass_on(const struct benchmark_way *way)
{
    int loop = epoll_create1(EPOLL_CLOEXEC);
    if (loop < 0 || watch(loop, way->source) < 0 || watch(loop, way->replies) < 0)
        return -errno;
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(loop, &event, 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        int result = event.data.fd == way->source ? wake(way) : settle(way);
        if (result == 0)
            return 0;
        if (result < 0)
            return -errno;
    }
}
