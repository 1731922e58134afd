// The three clocks of a page that a test moves; the kernel's clocks where no test gives a page.
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

int64_t clinux_clock_nanoseconds(int clock) {
    if (clocks && clock == CLOCK_MONOTONIC) return clocks[0];
    if (clocks && clock == CLOCK_BOOTTIME) return clocks[1];
    if (clocks && clock == CLOCK_REALTIME) return clocks[2];
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
