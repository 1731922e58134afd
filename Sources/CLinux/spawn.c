// Starts a child. Between clone and exec there are only raw system calls: the child is a copy of a process whose other
// threads are gone, so a lock that they held, in malloc or in the Swift runtime, is never released.
#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

#define KEPT 4             // descriptors 0 to 3 belong to the child
#define MOST_KEPT (KEPT + CLINUX_MOST_INHERITED)
#define ABOVE_COLLISION 20 // descriptors move here before they get their final number

// The kernel's sigaction, for the raw call: glibc's has another layout.
struct kernel_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};
#define KERNEL_SIGNAL_SET_SIZE 8

_Noreturn static void give_up(int startup, enum clinux_stage stage, int error) {
    struct clinux_startup_failure failure = {.stage = stage, .error = error};
    (void)!syscall(SYS_write, startup, &failure, sizeof failure);
    syscall(SYS_exit_group, 127);
    __builtin_unreachable();
}

static int wanted_at(const struct clinux_spawn_request *request, int number) {
    return number < KEPT ? request->descriptors[number] : request->inherited[number - KEPT];
}

// Moves all descriptors out of the way first, so that no step overwrites one that a later step needs.
static int place_descriptors(const struct clinux_spawn_request *request, int *startup) {
    int waiting[MOST_KEPT], count = KEPT + (int)request->inherited_count;
    if (count > MOST_KEPT) return E2BIG;
    for (int number = 0; number < count; number++) {
        waiting[number] = wanted_at(request, number);
        if (waiting[number] < 0) continue;
        waiting[number] = (int)syscall(SYS_fcntl, waiting[number], F_DUPFD_CLOEXEC, ABOVE_COLLISION);
        if (waiting[number] < 0) return errno;
    }
    int moved = (int)syscall(SYS_fcntl, *startup, F_DUPFD_CLOEXEC, ABOVE_COLLISION);
    if (moved < 0) return errno;
    *startup = moved;
    for (int number = 0; number < count; number++) {
        if (waiting[number] < 0) {
            syscall(SYS_close, number);
        } else if (syscall(SYS_dup3, waiting[number], number, 0) < 0) {
            return errno;
        }
    }
    // CLOSE_RANGE_CLOEXEC (Linux 5.11) would save two calls; the startup pipe must stay open here.
    if (syscall(SYS_close_range, count, *startup - 1, 0) < 0) return errno;
    if (syscall(SYS_close_range, *startup + 1, ~0U, 0) < 0) return errno;
    return 0;
}

// Blocked and ignored signals are inherited over exec; a program expects neither.
static int reset_signals(void) {
    struct kernel_sigaction original = {.handler = SIG_DFL};
    for (int number = 1; number <= 64; number++) {
        if (number == SIGKILL || number == SIGSTOP) continue;
        if (syscall(SYS_rt_sigaction, number, &original, NULL, KERNEL_SIGNAL_SET_SIZE) < 0) return errno;
    }
    unsigned long nothing = 0;
    return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, NULL, KERNEL_SIGNAL_SET_SIZE) < 0 ? errno : 0;
}

// Our own limits are far higher than one handler needs, and each of its descriptors and processes costs us time. Only root may
// raise a hard limit: other users get at most ours.
static int set_limit(int resource, struct clinux_limit limit) {
    struct rlimit64 wanted = {.rlim_cur = limit.soft, .rlim_max = limit.hard}, ours;
    if (limit.hard == 0 || syscall(SYS_prlimit64, 0, resource, &wanted, NULL) == 0) return 0;
    if (errno != EPERM || syscall(SYS_prlimit64, 0, resource, NULL, &ours) < 0) return errno;
    wanted.rlim_max = ours.rlim_max;
    if (wanted.rlim_cur > ours.rlim_max) wanted.rlim_cur = ours.rlim_max;
    return syscall(SYS_prlimit64, 0, resource, &wanted, NULL) < 0 ? errno : 0;
}

static int set_limits(const struct clinux_spawn_request *request) {
    int error = set_limit(RLIMIT_NOFILE, request->open_files);
    return error ? error : set_limit(RLIMIT_NPROC, request->processes);
}

// The order matters: groups while still privileged, then the user; no_new_privs, so that no setuid program undoes it.
static int switch_user(const struct clinux_spawn_request *request) {
    if (!request->switch_user) return 0;
    if (syscall(SYS_setgroups, request->group_count, request->groups) < 0) return errno;
    if (syscall(SYS_setresgid, request->group, request->group, request->group) < 0) return errno;
    if (syscall(SYS_setresuid, request->user, request->user, request->user) < 0) return errno;
    return syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : 0;
}

// After the switch of user, because a change of credentials clears this setting. The parent may have ended already.
static int tie_to_parent(const struct clinux_spawn_request *request, pid_t parent) {
    if (!request->die_with_parent) return 0;
    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) return errno;
    return syscall(SYS_getppid) == parent ? 0 : ESRCH;
}

_Noreturn static void become(const struct clinux_spawn_request *request, pid_t parent) {
    int startup = request->startup, error;
    if (syscall(SYS_setsid) < 0) give_up(startup, CLINUX_STAGE_SESSION, errno);
    if ((error = place_descriptors(request, &startup))) give_up(startup, CLINUX_STAGE_DESCRIPTORS, error);
    if ((error = reset_signals())) give_up(startup, CLINUX_STAGE_SIGNALS, error);
    if ((error = set_limits(request))) give_up(startup, CLINUX_STAGE_LIMITS, error);
    if ((error = switch_user(request))) give_up(startup, CLINUX_STAGE_USER, error);
    if ((error = tie_to_parent(request, parent))) give_up(startup, CLINUX_STAGE_PARENT, error);
    syscall(SYS_umask, request->umask);
    if (request->directory && syscall(SYS_chdir, request->directory) < 0)
        give_up(startup, CLINUX_STAGE_DIRECTORY, errno);
    if (request->stop) syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
    syscall(SYS_execve, request->executable, request->arguments, request->environment);
    give_up(startup, CLINUX_STAGE_EXECUTE, errno);
}

// A SIGCONT that is sent before the child has stopped would be lost, and the child would stay stopped. The child waits for
// nothing on its way, so this wait is short.
static void await_stop(int pidfd) {
    while (syscall(SYS_waitid, P_PIDFD, pidfd, NULL, WSTOPPED | WEXITED | WNOWAIT, NULL) < 0 && errno == EINTR) continue;
}

// Containers often filter system calls, and answer as if clone3 did not exist. Without a cgroup the older call does the same;
// its third argument receives the descriptor, on all architectures that this runs on.
static long make_child(struct clone_args *arguments, int *pidfd) {
    long pid = syscall(SYS_clone3, arguments, sizeof *arguments);
    if (pid >= 0 || errno != ENOSYS || arguments->flags & CLONE_INTO_CGROUP) return pid;
    return syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, pidfd, NULL, NULL);
}

int clinux_can_clone_into_cgroup(void) {
    // Without arguments there is nothing to do: an allowed caller gets EINVAL.
    syscall(SYS_clone3, NULL, 0);
    return errno == ENOSYS ? -ENOSYS : 0;
}

int clinux_spawn(const struct clinux_spawn_request *request, int *pidfd) {
    struct clone_args arguments = {
        .flags = CLONE_PIDFD,
        .pidfd = (uint64_t)(uintptr_t)pidfd,
        .exit_signal = SIGCHLD,
    };
    if (request->cgroup >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = (uint64_t)request->cgroup;
    }
    // None of our signal handlers may run in the child: all signals are blocked until it has reset them.
    unsigned long everything = ~0UL, before = 0;
    pid_t parent = (pid_t)syscall(SYS_getpid);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &everything, &before, KERNEL_SIGNAL_SET_SIZE);
    long pid = make_child(&arguments, pidfd);
    if (pid == 0) become(request, parent);
    int error = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGNAL_SET_SIZE);
    if (pid < 0) return -error;
    if (request->stop) await_stop(*pidfd);
    return (int)pid;
}
