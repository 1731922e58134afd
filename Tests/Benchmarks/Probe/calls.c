// The system calls of a process, counted while it goes on to its end.
#define _GNU_SOURCE
#include "benchmark_probe.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/// Waits for its next stop, and tells which signal is to be handed on. -ESRCH at its end, which is left to who started it.
static int await_stop(int pid, int *signal)
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

static int begins_call(int pid)
{
    struct __ptrace_syscall_info info;
    return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) >= 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

int64_t benchmark_count_calls(int pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) < 0 || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
        return -errno;
    int signal;
    int64_t count = 0;
    int failure = await_stop(pid, &signal);
    while (failure == 0) {
        if (ptrace(PTRACE_SYSCALL, pid, NULL, (long)signal) < 0)
            return errno == ESRCH ? count : -errno;
        failure = await_stop(pid, &signal);
        if (failure == 0)
            count += begins_call(pid);
    }
    return failure == -ESRCH ? count : failure;
}
