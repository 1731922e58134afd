// Acting with another user's rights on one thread, while all others keep those of this process.
#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The C library's calls would change all threads; the kernel's change only this one. Only the effective user changes: by the real or
// the saved one, programs of that user could signal the thread and so end the daemon. Root's capabilities go with the effective user.
static int take(struct clinux_identity identity, const gid_t *groups, size_t count) {
    if (syscall(SYS_setgroups, count, groups) < 0) return -errno;
    if (syscall(SYS_setresgid, (gid_t)-1, identity.group, (gid_t)-1) < 0) return -errno;
    return syscall(SYS_setresuid, (uid_t)-1, identity.user, (uid_t)-1) < 0 ? -errno : 0;
}

static void give_back(uid_t user, gid_t group) {
    (void)syscall(SYS_setresuid, (uid_t)-1, user, (uid_t)-1);
    (void)syscall(SYS_setresgid, (gid_t)-1, group, (gid_t)-1);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int acting;
static bool was_dumpable;

// The kernel clears the process's dumpable flag at each change of user, and it must stay clear while a thread acts as another user.
// Otherwise that user would own the thread's files in /proc and could write to some. The last thread to return to its own user
// restores the flag.
static void begin(void) {
    pthread_mutex_lock(&lock);
    if (acting++ == 0) was_dumpable = prctl(PR_GET_DUMPABLE) == 1;
    pthread_mutex_unlock(&lock);
}

static void end(void) {
    pthread_mutex_lock(&lock);
    if (--acting == 0 && was_dumpable) (void)prctl(PR_SET_DUMPABLE, 1);
    pthread_mutex_unlock(&lock);
}

int clinux_act_as(
    struct clinux_identity identity, const gid_t *groups, size_t count, void (*body)(void *), void *context) {
    if (count == 0) {
        body(context);
        return 0;
    }
    uid_t user = geteuid();
    gid_t group = getegid();
    begin();
    int failure = take(identity, groups, count);
    if (failure == 0) body(context);
    give_back(user, group);
    end();
    return failure;
}
