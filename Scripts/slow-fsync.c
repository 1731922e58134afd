// Preloaded by Scripts/shake.py: each fsync and fdatasync takes 25 ms longer, as on a card that is worn or busy.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <time.h>

/// Waits before the real call, so that a kill meanwhile finds nothing written.
static int late(const char *name, int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    struct timespec left = {.tv_nsec = 25 * 1000 * 1000};
    while (nanosleep(&left, &left) == -1 && errno == EINTR) continue;
    return real(file);
}

int fsync(int file) { return late("fsync", file); }
int fdatasync(int file) { return late("fdatasync", file); }
