// Changes the owner of files, and locks the number of a dynamic user.
#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// A descriptor holds the entry between the check and the change: the name could mean another file by then.
static int give_entry(int entry, const struct clinux_giving *giving, int *inside) {
    struct stat status;
    if (fstat(entry, &status) < 0) return -errno;
    if (status.st_dev != giving->file_system) return CLINUX_NOT_GIVEN;
    bool is_theirs = status.st_uid == giving->former;
    if (is_theirs && fchownat(entry, "", giving->user, giving->group, AT_EMPTY_PATH) < 0) return -errno;
    if (S_ISDIR(status.st_mode)) {
        *inside = openat(entry, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (*inside < 0) return -errno;
    }
    return is_theirs ? CLINUX_GIVEN : CLINUX_NOT_GIVEN;
}

int clinux_give(int directory, const char *name, const struct clinux_giving *giving, int *inside) {
    *inside = -1;
    int entry = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (entry < 0) return -errno;
    int given = give_entry(entry, giving, inside);
    close(entry);
    return given;
}

int clinux_file_system(int descriptor, uint64_t *number) {
    struct stat status;
    if (fstat(descriptor, &status) < 0) return -errno;
    *number = status.st_dev;
    return 0;
}

int clinux_lock_user(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    if (file < 0) return -errno;
    struct stat status;
    int error = flock(file, LOCK_EX | LOCK_NB) < 0 || fstat(file, &status) < 0 ? errno : 0;
    // The last holder removes the file before it unlocks it: a lock on a file without a name means nothing.
    if (!error && status.st_nlink == 0) error = ESTALE;
    if (!error) return file;
    close(file);
    return -error;
}
