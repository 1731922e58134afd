// Preloaded into a bridge: its wall clock is off by what a file says, and it is told of each step as the kernel would tell it.
// BREAK_CLOCK names the file, eight bytes of nanoseconds; BREAK_CLOCK.steps is a pipe that gets a byte for each step.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *offset;
static int watch = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("BREAK_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) offset = page;
    close(file);
}

static int is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int answer = real(clock, time);
    if (answer == 0 && offset && is_wall(clock)) time->tv_sec += *offset / 1000000000;
    return answer;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds) *seconds = now.tv_sec;
    return now.tv_sec;
}

// A timer that is to be cancelled when the clock is set becomes the pipe that tells of steps.
int timerfd_settime(int timer, int flags, const struct itimerspec *value, struct itimerspec *before) {
    const char *path = getenv("BREAK_CLOCK");
    if (!path || !(flags & TFD_TIMER_CANCEL_ON_SET))
        return (int)syscall(SYS_timerfd_settime, timer, flags, value, before);
    if (timer == watch) return 0;
    char name[512];
    snprintf(name, sizeof name, "%s.steps", path);
    int steps = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (steps < 0 || dup3(steps, timer, O_CLOEXEC) < 0) return -1;
    close(steps);
    watch = timer;
    return 0;
}

ssize_t read(int file, void *bytes, size_t size) {
    ssize_t count = syscall(SYS_read, file, bytes, size);
    if (file != watch || watch < 0 || count <= 0) return count;
    errno = ECANCELED;
    return -1;
}
