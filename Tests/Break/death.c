// Preloaded into a program: kills it before one of its writes and syncs, those of its libraries included. DEATH_AFTER is how many it
// may do before.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static void die_if_due(void) {
    static long left = -1;
    if (left < 0) left = atol(getenv("DEATH_AFTER"));
    if (left-- == 0) kill(getpid(), SIGKILL);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t place) {
    die_if_due();
    return syscall(SYS_pwrite64, file, bytes, count, place);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) { return pwrite64(file, bytes, count, place); }

int fdatasync(int file) {
    die_if_due();
    return (int)syscall(SYS_fdatasync, file);
}
