// Whether a process holds a file lock, from its descriptors. This runs after each freeze, so it makes as few calls as possible,
// and stops at its limit however many descriptors there are.
#define _GNU_SOURCE
#include "clinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// After this many unused numbers the descriptors are listed instead; the one that bash uses for its script does not count.
#define HOLES 8
#define BASH_SCRIPT 255

/// The descriptors that are checked between two looks at the clock.
#define STRIDE 16

/// 0, or -ETIME where the search has reached its limit.
static int spend(struct clinux_look *look)
{
    if (look->left-- <= 0)
        return -ETIME;
    if (look->left % STRIDE == 0 && clinux_clock_nanoseconds(CLOCK_MONOTONIC) >= look->deadline)
        return -ETIME;
    return 0;
}

/// A pipe, a socket without a name, an epoll and similar: only processes that received it can have it, so a lock on it blocks no
/// other process. The kernel's text about an epoll is as long as its list of watched descriptors.
static int is_anonymous(const char *target, ssize_t length)
{
    return length == 8 && (memcmp(target, "pipe:[", 6) == 0 || memcmp(target, "socket:[", 8) == 0
                           || memcmp(target, "anon_ino", 8) == 0);
}

/// The kernel lists locks from the fifth line on, before lines that depend on the kind of descriptor.
static int tells_of_lock(pid_t process, const char *name)
{
    char text[512], path[64];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%.20s", process, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    ssize_t count = read(file, text, sizeof text);
    int failure = count < 0 ? -errno : 0;
    close(file);
    return count < 0 ? failure : memmem(text, (size_t)count, "\nlock:", 6) != NULL;
}

/// Whether the descriptor with that name shows a lock; -ENOENT where there is none, -ETIME where the search stops before it.
static int descriptor_shows_lock(pid_t process, int folder, const char *name, struct clinux_look *look)
{
    char target[8];
    if (spend(look) < 0)
        return -ETIME;
    ssize_t length = readlinkat(folder, name, target, sizeof target);
    if (length < 0 && errno == ENOENT)
        return -ENOENT;
    return is_anonymous(target, length) ? 0 : tells_of_lock(process, name);
}

/// Checks the descriptors that are named in `size` bytes of the folder. One that was closed since holds no lock.
static int any_named_shows_lock(pid_t process, int folder, const char *names, ssize_t size, struct clinux_look *look)
{
    int found = 0;
    for (ssize_t place = 0; place < size && found == 0;) {
        const struct dirent64 *entry = (const struct dirent64 *)(names + place);
        if (entry->d_name[0] != '.')
            found = descriptor_shows_lock(process, folder, entry->d_name, look);
        if (found == -ENOENT)
            found = 0;
        place += entry->d_reclen;
    }
    return found;
}

static int any_listed_shows_lock(pid_t process, int folder, struct clinux_look *look)
{
    _Alignas(struct dirent64) char names[4096];
    int found = 0;
    ssize_t size;
    // Reads to the end: an interruption may cut the kernel's list short.
    do {
        size = getdents64(folder, names, sizeof names);
        found = size < 0 ? -errno : any_named_shows_lock(process, folder, names, size, look);
    } while (found == 0 && size > 0);
    return found;
}

/// Whether the descriptor with that number shows a lock; counts it as seen or as unused.
static int numbered_shows_lock(
    pid_t process, int folder, int number, off_t *left, int *holes, struct clinux_look *look)
{
    char name[12];
    snprintf(name, sizeof name, "%d", number);
    int found = descriptor_shows_lock(process, folder, name, look);
    if (found == -ENOENT) {
        ++*holes;
        return 0;
    }
    --*left;
    return found;
}

/// Tries one number after the other until `left` descriptors were seen. Listing them makes the kernel walk a table as large as
/// the parent's: ours has eleven entries for each handler. Returns -ENOENT where too many numbers are unused.
static int any_numbered_shows_lock(pid_t process, int folder, off_t left, struct clinux_look *look)
{
    int found = 0, holes = 0, number = 0;
    for (; left > 0 && holes < HOLES && found == 0; number++)
        found = numbered_shows_lock(process, folder, number, &left, &holes, look);
    if (left > 0 && found == 0 && number <= BASH_SCRIPT)
        found = numbered_shows_lock(process, folder, BASH_SCRIPT, &left, &holes, look);
    return found == 0 && left > 0 ? -ENOENT : found;
}

/// Since Linux 6.2; before that, zero.
static off_t descriptor_count(int folder)
{
    struct stat status;
    return fstat(folder, &status) == 0 ? status.st_size : 0;
}

int clinux_shows_lock(pid_t process, struct clinux_look *look)
{
    char path[32];
    if (spend(look) < 0)
        return -ETIME;
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    off_t count = descriptor_count(folder);
    int found = count > look->left ? -ETIME
        : count > 0                ? any_numbered_shows_lock(process, folder, count, look)
                                   : -ENOENT;
    // With stop signals, a process may still be running: a new descriptor may have hidden a later one.
    if (found == -ENOENT || (found == 0 && descriptor_count(folder) != count))
        found = any_listed_shows_lock(process, folder, look);
    close(folder);
    return found;
}
