// Whether a process holds a file lock: what its descriptors say, asked after each freeze, and so in as few calls as can be.
#define _GNU_SOURCE
#include "clinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// The kernel tells of locks in the fifth line, before anything that depends on what the descriptor is.
static int shows_lock(int folder, const char *name)
{
    char text[512];
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    // Closed since it was listed, and with it what it held.
    if (file < 0)
        return errno == ENOENT ? 0 : -errno;
    ssize_t count = read(file, text, sizeof text);
    int failure = count < 0 && errno != ENOENT ? -errno : 0;
    close(file);
    return count < 0 ? failure : memmem(text, (size_t)count, "\nlock:", 6) != NULL;
}

int clinux_shows_lock(pid_t process)
{
    char path[32];
    _Alignas(struct dirent64) char names[4096];
    snprintf(path, sizeof path, "/proc/%d/fdinfo", process);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    int found = 0;
    while (found == 0) {
        ssize_t size = getdents64(folder, names, sizeof names);
        if (size <= 0) {
            found = size < 0 ? -errno : 0;
            break;
        }
        for (ssize_t place = 0; place < size && found == 0;) {
            const struct dirent64 *entry = (const struct dirent64 *)(names + place);
            if (entry->d_name[0] != '.')
                found = shows_lock(folder, entry->d_name);
            place += entry->d_reclen;
        }
    }
    close(folder);
    return found;
}
