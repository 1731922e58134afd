// Whether a process holds a file lock: what its descriptors say, asked after each freeze, and so in as few calls as can be.
#define _GNU_SOURCE
#include "clinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// A pipe or a socket without a name: only who was given it has it, so a lock on it stops no stranger.
static int is_anonymous(int folder, const char *name)
{
    char target[8];
    ssize_t length = readlinkat(folder, name, target, sizeof target);
    return length == sizeof target && (memcmp(target, "pipe:[", 6) == 0 || memcmp(target, "socket:[", 8) == 0);
}

/// The kernel tells of locks in the fifth line, before anything that depends on what the descriptor is.
static int shows_lock(pid_t process, const char *name)
{
    char text[512], path[64];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%.20s", process, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    // Closed since it was listed, and with it what it held.
    if (file < 0)
        return errno == ENOENT ? 0 : -errno;
    ssize_t count = read(file, text, sizeof text);
    int failure = count < 0 && errno != ENOENT ? -errno : 0;
    close(file);
    return count < 0 ? failure : memmem(text, (size_t)count, "\nlock:", 6) != NULL;
}

/// Looks at the descriptors that are named in `size` bytes of the folder.
static int any_shows_lock(pid_t process, int folder, const char *names, ssize_t size)
{
    int found = 0;
    for (ssize_t place = 0; place < size && found == 0;) {
        const struct dirent64 *entry = (const struct dirent64 *)(names + place);
        if (entry->d_name[0] != '.' && !is_anonymous(folder, entry->d_name))
            found = shows_lock(process, entry->d_name);
        place += entry->d_reclen;
    }
    return found;
}

int clinux_shows_lock(pid_t process)
{
    char path[32];
    _Alignas(struct dirent64) char names[4096];
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    int found = 0;
    ssize_t size;
    // To the end: what interrupts the kernel may cut its list short.
    do {
        size = getdents64(folder, names, sizeof names);
        found = size < 0 ? -errno : any_shows_lock(process, folder, names, size);
    } while (found == 0 && size > 0);
    close(folder);
    return found;
}
