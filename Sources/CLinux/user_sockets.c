// Unix sockets in the name of a user: what is made, reached or removed is what that user may make, reach or remove.
#define _GNU_SOURCE
#include "clinux_sockets.h"
#include "clinux.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

struct task {
    int (*act)(const struct task *);
    struct clinux_identity identity;
    const gid_t *groups;
    size_t group_count;
    const char *path;
    mode_t mode;
    struct sockaddr_un address;
    int answer;
};

static void act(void *context) {
    struct task *task = context;
    task->answer = task->act(task);
}

static void run(void *context) {
    struct task *task = context;
    int failure = clinux_act_as(task->identity, task->groups, task->group_count, act, task);
    if (failure < 0) task->answer = failure;
}

static int perform(struct task *task) {
    size_t length = strlen(task->path);
    task->address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (length >= sizeof task->address.sun_path) return -ENAMETOOLONG;
    memcpy(task->address.sun_path, task->path, length);
    int failure = clinux_thread_to_its_end(run, task);
    return failure < 0 ? failure : task->answer;
}

// Whoever closes a socket also closes the descriptors that wait in it, and that takes as long as their sender likes.
static int make(void) {
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    (void)clinux_refuse_descriptors(descriptor);
    return descriptor;
}

static int connect_there(const struct task *task) {
    int descriptor = make();
    if (descriptor < 0 || connect(descriptor, (const struct sockaddr *)&task->address, sizeof task->address) == 0)
        return descriptor;
    int error = errno;
    close(descriptor);
    return -error;
}

static int remove_there(const struct task *task) {
    struct stat status;
    if (lstat(task->path, &status) < 0) return -errno;
    if (!S_ISSOCK(status.st_mode)) return -EEXIST;
    return unlink(task->path) < 0 ? -errno : 0;
}

// 0 where a process holds the socket at the path. It is asked with a socket of another kind: the kernel then only answers that the kinds
// differ. A connection would be the other process's to fill with descriptors, before it is closed here.
static int find_holder(const struct task *task) {
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return -errno;
    int answer = connect(probe, (const struct sockaddr *)&task->address, sizeof task->address) < 0 ? -errno : 0;
    close(probe);
    return answer == -EPROTOTYPE ? 0 : answer;
}

// One that no process holds any more.
static int remove_stale(const struct task *task) {
    struct stat status;
    if (lstat(task->path, &status) < 0) return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(status.st_mode)) return -EEXIST;
    int answer = find_holder(task);
    if (answer == -ECONNREFUSED) return remove_there(task);
    return answer < 0 ? answer : -EADDRINUSE;
}

static int bind_there(const struct task *task, int descriptor) {
    // The umask is then this thread's own. Where a container forbids that, all threads have it for this moment.
    (void)unshare(CLONE_FS);
    mode_t before = umask(0777 & ~task->mode);
    int bound = bind(descriptor, (const struct sockaddr *)&task->address, sizeof task->address) < 0 ? -errno : 0;
    umask(before);
    return bound;
}

static int listen_there(const struct task *task) {
    int stale = remove_stale(task);
    int descriptor = stale < 0 ? stale : make();
    if (descriptor < 0) return descriptor;
    int failure = bind_there(task, descriptor);
    if (failure == 0) {
        failure = listen(descriptor, BACKLOG) < 0 ? -errno : 0;
        if (failure < 0) (void)unlink(task->path);
    }
    if (failure == 0) return descriptor;
    close(descriptor);
    return failure;
}

int clinux_connect_unix(const char *path, struct clinux_identity identity, const gid_t *groups, size_t count) {
    struct task task = {connect_there, identity, groups, count, .path = path};
    return perform(&task);
}

int clinux_listen_unix(
    const char *path, mode_t mode, struct clinux_identity identity, const gid_t *groups, size_t count) {
    struct task task = {listen_there, identity, groups, count, .path = path, .mode = mode};
    return perform(&task);
}

int clinux_remove_unix(const char *path, struct clinux_identity identity, const gid_t *groups, size_t count) {
    struct task task = {remove_there, identity, groups, count, .path = path};
    return perform(&task);
}
