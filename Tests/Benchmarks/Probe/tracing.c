// What a process does, from outside: a wake one instruction at a time, and its system calls to its end.
#define _GNU_SOURCE
#include "benchmark_probe.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

/// Waits until it stands still. `signal` is what is to be handed on to it when it goes on. Its end is left to who started it.
static int awaited(int pid, int *signal)
{
    siginfo_t info;
    int status;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT) < 0)
        if (errno != EINTR)
            return -errno;
    if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
        return -ESRCH;
    if (waitpid(pid, &status, 0) < 0)
        return -errno;
    *signal = status >> 16 || (WSTOPSIG(status) & 0x7f) == SIGTRAP ? 0 : WSTOPSIG(status);
    return 0;
}

void benchmark_resume(int pid)
{
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

int benchmark_halt(int pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
        return -errno;
    int signal;
    int failure = ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 ? -errno : awaited(pid, &signal);
    if (failure < 0)
        benchmark_resume(pid);
    return failure;
}

static int begins_call(int pid)
{
    struct __ptrace_syscall_info info;
    return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) >= 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

int64_t benchmark_count_calls(int pid)
{
    int signal = 0;
    int64_t count = 0;
    int failure = benchmark_halt(pid);
    // Else the kernel does not tell a call's beginning from its end.
    if (failure == 0 && ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD) < 0)
        failure = -errno;
    while (failure == 0) {
        if (ptrace(PTRACE_SYSCALL, pid, NULL, (long)signal) < 0)
            return errno == ESRCH ? count : -errno;
        failure = awaited(pid, &signal);
        if (failure == 0)
            count += begins_call(pid);
    }
    return failure == -ESRCH ? count : failure;
}

#ifdef __x86_64__
static int go_on(int pid, enum __ptrace_request how, int *signal)
{
    return ptrace(how, pid, NULL, (long)*signal) < 0 ? -errno : awaited(pid, signal);
}

static int is_call(int pid, const struct user_regs_struct *at)
{
    return (ptrace(PTRACE_PEEKTEXT, pid, at->rip, NULL) & 0xffff) == 0x050f;
}

static int waits(const struct user_regs_struct *at)
{
    return at->rax == SYS_epoll_wait || at->rax == SYS_epoll_pwait || at->rax == SYS_epoll_pwait2;
}

/// Only a thaw is one byte, which is "0".
static int thaws(int pid, const struct user_regs_struct *at)
{
    return (at->rax == SYS_pwrite64 || at->rax == SYS_write) && at->rdx == 1
        && (ptrace(PTRACE_PEEKDATA, pid, at->rsi, NULL) & 0xff) == '0';
}

/// Lets it go on to `place`, where it then stands.
static int run_to(int pid, uint64_t place, int *signal)
{
    long code = ptrace(PTRACE_PEEKTEXT, pid, place, NULL);
    struct user_regs_struct at = {0};
    if (ptrace(PTRACE_POKETEXT, pid, place, (code & ~0xffL) | 0xcc) < 0)
        return -errno;
    int failure = 0;
    while (failure == 0 && at.rip != place + 1) {
        failure = go_on(pid, PTRACE_CONT, signal);
        if (failure == 0 && ptrace(PTRACE_GETREGS, pid, NULL, &at) < 0)
            failure = -errno;
    }
    ptrace(PTRACE_POKETEXT, pid, place, code);
    at.rip = place;
    if (failure == 0 && ptrace(PTRACE_SETREGS, pid, NULL, &at) < 0)
        failure = -errno;
    return failure;
}

/// What it does next from where it stands: an instruction, or all that tells the time, which begins again whenever the time is
/// set forward, and step by step that is always.
static int advance(int pid, const struct benchmark_clock *clock, const struct user_regs_struct *at, int *signal)
{
    if (at->rip >= clock->start && at->rip < clock->end)
        return run_to(pid, (uint64_t)ptrace(PTRACE_PEEKDATA, pid, at->rsp, NULL), signal);
    return go_on(pid, PTRACE_SINGLESTEP, signal);
}

static int64_t step(int pid, const struct benchmark_clock *clock, uint64_t *places, int64_t room)
{
    int64_t count = 0;
    int has_begun = 0, signal = 0, failure = 0;
    struct user_regs_struct at;
    for (int64_t total = 0; total < room && failure == 0; total++) {
        if (ptrace(PTRACE_GETREGS, pid, NULL, &at) < 0)
            return -errno;
        if (is_call(pid, &at)) {
            if (has_begun && thaws(pid, &at))
                return count;
            if (has_begun && waits(&at))
                return -EAGAIN;
            has_begun |= at.rax == SYS_read && at.rdi == 0;
        }
        if (has_begun && (at.rip < clock->start || at.rip >= clock->end))
            places[count++] = at.rip;
        failure = advance(pid, clock, &at, &signal);
    }
    return failure < 0 ? failure : -ENOBUFS;
}

int64_t benchmark_step(int pid, const struct benchmark_clock *clock, uint64_t *places, int64_t room)
{
    cpu_set_t usual, one;
    if (sched_getaffinity(0, sizeof usual, &usual) < 0)
        return -errno;
    // On one processor the two hand over to each other ten times as fast.
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    sched_setaffinity(pid, sizeof one, &one);
    int64_t count = step(pid, clock, places, room);
    sched_setaffinity(0, sizeof usual, &usual);
    sched_setaffinity(pid, sizeof usual, &usual);
    return count;
}
#else
int64_t benchmark_step(int pid, const struct benchmark_clock *clock, uint64_t *places, int64_t room)
{
    (void)pid, (void)clock, (void)places, (void)room;
    return -ENOSYS;
}
#endif
