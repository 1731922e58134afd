// Three clocks that a test moves by a page or holds for a thread; without either, the kernel's clocks.
#include "stepped_clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

// Begins as Tests/SteppedPage writes it: CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_REALTIME in nanoseconds.
static const volatile int64_t *clocks;

__attribute__((constructor)) static void open_page(void) {
    const char *path = getenv("WAKEBRIDGE_STEPPED");
    int page = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (page < 0) return;
    void *mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, page, 0);
    close(page);
    if (mapped != MAP_FAILED) clocks = mapped;
}

// The times of a thread that holds them, in the order of the page.
static _Thread_local int holds;
static _Thread_local int64_t held[3];

static int64_t kernel_nanoseconds(int clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void stepped_clock_hold(void) {
    if (holds++) return;
    held[0] = kernel_nanoseconds(CLOCK_MONOTONIC);
    held[1] = kernel_nanoseconds(CLOCK_BOOTTIME);
    held[2] = kernel_nanoseconds(CLOCK_REALTIME);
}

void stepped_clock_move(int64_t nanoseconds) {
    for (int i = 0; i < 3; i++) held[i] += nanoseconds;
}

void stepped_clock_release(void) { holds--; }

int64_t clinux_clock_nanoseconds(int clock) {
    const volatile int64_t *moved = holds ? held : clocks;
    if (moved && clock == CLOCK_MONOTONIC) return moved[0];
    if (moved && clock == CLOCK_BOOTTIME) return moved[1];
    if (moved && clock == CLOCK_REALTIME) return moved[2];
    return kernel_nanoseconds(clock);
}
