// Files that stay beneath a folder, and a program that outlives the one that starts it.
#define _GNU_SOURCE
#include "clinux.h"
#include "clinux_transfers.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// One component of a path: its last, or a folder on the way.
static int open_step(int place, const char *name, int flags, mode_t mode, int is_last) {
    if (!strcmp(name, "..")) return -EXDEV;
    int way = is_last ? flags : O_PATH | O_DIRECTORY;
    int descriptor = openat(place, name, way | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor >= 0) return descriptor;
    int error = errno;
    struct stat status;
    int is_link = error == ENOTDIR && !fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) && S_ISLNK(status.st_mode);
    return is_link ? -ELOOP : -error;
}

// systemd's RestrictSUIDSGID= takes openat2 away, for its flags lie where no filter can read them.
static int walk_beneath(int folder, const char *path, int flags, mode_t mode) {
    if (*path == '/') return -EXDEV;
    int place = folder;
    for (;;) {
        char name[NAME_MAX + 1];
        size_t length = strcspn(path, "/");
        const char *rest = path + length + strspn(path + length, "/");
        int next = length == 0 ? -ENOENT : length > NAME_MAX ? -ENAMETOOLONG : 0;
        if (!next) {
            memcpy(name, path, length);
            name[length] = 0;
            next = open_step(place, name, flags, mode, !*rest);
        }
        if (place != folder) close(place);
        if (next < 0 || !*rest) return next;
        place = next;
        path = rest;
    }
}

int clinux_open_beneath(int folder, const char *path, int flags, mode_t mode) {
    struct open_how how = {
        .flags = (unsigned)flags | O_CLOEXEC,
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    // The kernel asks for another try where a folder above was renamed meanwhile.
    for (int attempt = 0; attempt < 8; attempt++) {
        long descriptor = syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (descriptor >= 0) return (int)descriptor;
        if (errno == ENOSYS || errno == EPERM) return walk_beneath(folder, path, flags, how.mode);
        if (errno != EAGAIN && errno != EINTR) break;
    }
    return -errno;
}

int clinux_become(uid_t user, gid_t group, const gid_t *groups, size_t count) {
    if (setgroups(count, groups) < 0) return -errno;
    if (setresgid(group, group, group) < 0) return -errno;
    if (setresuid(user, user, user) < 0) return -errno;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

int clinux_detach(void) {
    pid_t child = fork();
    if (child < 0) return -errno;
    if (child > 0) _exit(0);
    if (setsid() < 0) return -errno;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0) return -errno;
    int moved = dup2(nothing, STDIN_FILENO);
    int error = errno;
    close(nothing);
    return moved < 0 ? -error : 0;
}

int clinux_begin_writeback(int descriptor, off_t place, off_t count) {
    return sync_file_range(descriptor, place, count, SYNC_FILE_RANGE_WRITE) < 0 ? -errno : 0;
}

static int spawn(pid_t *child, const char *path, char *const arguments[], char *const environment[], const int given[2]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        for (int index = 0; index < 2 && !error; index++)
            error = posix_spawn_file_actions_adddup2(&actions, given[index], 3 + index);
        if (!error) error = posix_spawn(child, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int clinux_run_with_socket(const char *path, char *const arguments[], char *const environment[], int socket, int lock) {
    // Were one of them 3 or 4 already, it would be overwritten, or keep its mark to be closed.
    int given[2] = {fcntl(socket, F_DUPFD_CLOEXEC, 10), -1};
    if (given[0] < 0) return -errno;
    given[1] = fcntl(lock, F_DUPFD_CLOEXEC, 10);
    pid_t child = 0;
    int error = given[1] < 0 ? errno : spawn(&child, path, arguments, environment, given);
    close(given[0]);
    if (given[1] >= 0) close(given[1]);
    if (error) return -error;
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
