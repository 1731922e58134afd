// Small calls: names, clocks, descriptors, signals, reaping, accounts.
#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

const int clinux_sigpipe = SIGPIPE;

static int answer(int value) { return value < 0 ? -errno : value; }

const char *clinux_errno_name(int number) { return strerrorname_np(number); }
const char *clinux_errno_text(int number) { return strerrordesc_np(number); }

// Weak: the stepped daemon of the tests links a clock of its own in its place.
__attribute__((weak)) int64_t clinux_clock_nanoseconds(int clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clinux_clock_max_error(void) {
    struct timex state = {0};
    if (adjtimex(&state) < 0) return -errno;
    return state.maxerror;
}

int clinux_bell(void) { return answer(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int clinux_pipe(int ends[2], int flags) { return answer(pipe2(ends, flags)); }

int clinux_set_pipe_capacity(int descriptor, int bytes) { return answer(fcntl(descriptor, F_SETPIPE_SZ, bytes)); }

int clinux_write_without_waiting(int descriptor, const void *bytes, size_t count) {
    ssize_t sent = send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return (int)sent;
    if (errno != ENOTSOCK) return -errno;
    // A pipe that polls writable has room for PIPE_BUF bytes; files and terminals poll writable too.
    struct pollfd room = {.fd = descriptor, .events = POLLOUT};
    if (poll(&room, 1, 0) <= 0 || !(room.revents & POLLOUT) || (room.revents & POLLERR)) return -EAGAIN;
    return answer((int)write(descriptor, bytes, count));
}

int clinux_lock(int descriptor, pid_t *holder) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_SETLK, &lock) == 0) return 0;
    if (errno != EAGAIN && errno != EACCES) return -errno;
    lock.l_type = F_WRLCK;
    if (fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) *holder = lock.l_pid;
    return -EBUSY;
}

int clinux_bytes_waiting(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCINQ, &count) < 0 ? -errno : count;
}

int clinux_accept(int listener, int flags) { return answer(accept4(listener, NULL, NULL, flags)); }

int clinux_peer_credentials(int descriptor, pid_t *pid, uid_t *user, gid_t *group) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -errno;
    *pid = peer.pid;
    *user = peer.uid;
    *group = peer.gid;
    return 0;
}

int clinux_pass_credentials(int descriptor) {
    int on = 1;
    return answer(setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, sizeof on));
}

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 // Linux 6.16
#endif

int clinux_refuse_descriptors(int socket) {
    int off = 0;
    if (setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof off) == 0) return 0;
    return errno == ENOPROTOOPT ? 1 : -errno;
}

// The control buffer has room only for the sender. The kernel reports that there was more, and opens none of it. The datagram in
// the queue keeps the last reference, so nothing is closed either.
int clinux_peek_datagram(int descriptor, void *bytes, size_t capacity, struct clinux_datagram *datagram) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec piece = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t count = recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_PEEK);
    if (count < 0) return -errno;
    memset(datagram, 0, sizeof *datagram);
    datagram->truncated = (message.msg_flags & MSG_TRUNC) != 0;
    datagram->carries_descriptors = (message.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
        struct ucred sender;
        memcpy(&sender, CMSG_DATA(part), sizeof sender);
        datagram->pid = sender.pid;
        datagram->user = sender.uid;
        datagram->group = sender.gid;
    }
    return (int)count;
}

int clinux_drop_datagram(int descriptor) { return answer((int)recv(descriptor, NULL, 0, MSG_DONTWAIT)); }

int clinux_refuse_datagrams(int descriptor) { return answer(shutdown(descriptor, SHUT_RD)); }

int clinux_ignores_signal(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int clinux_heed_signal(int number) { return signal(number, SIG_DFL) == SIG_ERR ? -errno : 0; }

int clinux_ignore_signal(int number) { return signal(number, SIG_IGN) == SIG_ERR ? -errno : 0; }

int clinux_block_signal(int number) {
    sigset_t set;
    sigemptyset(&set);
    if (sigaddset(&set, number) < 0) return -errno;
    return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int clinux_pidfd_open(pid_t pid) { return answer((int)syscall(SYS_pidfd_open, pid, 0)); }

int clinux_pidfd_send_signal(int pidfd, int number) {
    return answer((int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0));
}

int clinux_reap(int pidfd, struct clinux_exit *exit) {
    siginfo_t info = {0};
    if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) < 0) return -errno;
    if (info.si_pid == 0) return 0;
    exit->code = info.si_code;
    exit->status = info.si_status;
    return 1;
}

// The databases of users and groups may be on the network; the caller's buffer grows until the entry fits.
static int fill_account(const char *name, uid_t user, struct clinux_account *account) {
    for (size_t size = 4096; size <= 1 << 20; size *= 4) {
        char *buffer = malloc(size);
        if (!buffer) return -ENOMEM;
        struct passwd entry, *found = NULL;
        int error = name ? getpwnam_r(name, &entry, buffer, size, &found) : getpwuid_r(user, &entry, buffer, size, &found);
        if (found) {
            account->user = found->pw_uid;
            account->group = found->pw_gid;
            strncpy(account->home, found->pw_dir, sizeof account->home - 1);
            strncpy(account->name, found->pw_name, sizeof account->name - 1);
        }
        free(buffer);
        if (error != ERANGE) return found ? 0 : -(error ? error : ENOENT);
    }
    return -ERANGE;
}

int clinux_account_by_name(const char *name, struct clinux_account *account) {
    memset(account, 0, sizeof *account);
    return fill_account(name, 0, account);
}

int clinux_account_by_id(uid_t user, struct clinux_account *account) {
    memset(account, 0, sizeof *account);
    return fill_account(NULL, user, account);
}

int clinux_group_by_name(const char *name, gid_t *group) {
    for (size_t size = 4096; size <= 1 << 20; size *= 4) {
        char *buffer = malloc(size);
        if (!buffer) return -ENOMEM;
        struct group entry, *found = NULL;
        int error = getgrnam_r(name, &entry, buffer, size, &found);
        if (found) *group = found->gr_gid;
        free(buffer);
        if (error != ERANGE) return found ? 0 : -(error ? error : ENOENT);
    }
    return -ERANGE;
}

int clinux_group_by_id(gid_t group, char *name, size_t limit) {
    for (size_t size = 4096; size <= 1 << 20; size *= 4) {
        char *buffer = malloc(size);
        if (!buffer) return -ENOMEM;
        struct group entry, *found = NULL;
        int error = getgrgid_r(group, &entry, buffer, size, &found);
        if (found) snprintf(name, limit, "%s", found->gr_name);
        free(buffer);
        if (error != ERANGE) return found ? 0 : -(error ? error : ENOENT);
    }
    return -ERANGE;
}

int clinux_groups_of(const char *name, gid_t group, gid_t *groups, size_t limit) {
    int count = (int)limit;
    return getgrouplist(name, group, groups, &count) < 0 ? -ERANGE : count;
}

// So far ahead that it never expires: only its cancellation by a step of the clock is used.
static int arm_wall_clock_watch(int watch) {
    struct itimerspec never = {.it_value = {.tv_sec = INT32_MAX * (time_t)1000}};
    return answer(timerfd_settime(watch, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL));
}

int clinux_wall_clock_watch(void) {
    int watch = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (watch < 0) return -errno;
    int armed = arm_wall_clock_watch(watch);
    if (armed < 0) close(watch);
    return armed < 0 ? armed : watch;
}

int clinux_wall_clock_was_set(int watch) {
    uint64_t expirations;
    if (read(watch, &expirations, sizeof expirations) >= 0 || errno != ECANCELED) return 0;
    int armed = arm_wall_clock_watch(watch);
    return armed < 0 ? armed : 1;
}

int clinux_is_in_memory(const char *path) {
    struct statfs status;
    if (statfs(path, &status) < 0) return -errno;
    return status.f_type == TMPFS_MAGIC;
}
