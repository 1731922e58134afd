// The few Linux calls that Swift's Glibc module lacks: every function returns >= 0, or -errno.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "clinux_network.h"
#include "clinux_nodes.h"
#include "clinux_routes.h"
#include "clinux_transfers.h"
#include "clinux_sockets.h"
#include "clinux_socket_diag.h"

// ---- Names and clocks -------------------------------------------------------------------------------------------

/// "ENOENT", or NULL for a number that has no name. Static storage.
const char *clinux_errno_name(int number);
/// "No such file or directory", or NULL. Static storage, never translated.
const char *clinux_errno_text(int number);

/// The clock in nanoseconds, through the vDSO. Only for clocks that every Linux has.
int64_t clinux_clock_nanoseconds(int clock);
/// By how many microseconds the wall clock may be wrong, as the kernel estimates it.
int64_t clinux_clock_max_error(void);

// ---- Descriptors ------------------------------------------------------------------------------------------------

/// O_PATH: refers to a file without opening it.
extern const int clinux_o_path;
int clinux_pipe(int ends[2], int flags);
/// Sets a pipe's capacity in bytes; the kernel rounds up. Returns the capacity it has now.
int clinux_set_pipe_capacity(int descriptor, int bytes);
/// Writes all of a line of less than PIPE_BUF bytes or nothing of it, and never waits: -EAGAIN where there is no room.
int clinux_write_without_waiting(int descriptor, const void *bytes, size_t count);
/// Takes an exclusive POSIX lock on the whole file, or returns -EBUSY and the process that has it.
int clinux_lock(int descriptor, pid_t *holder);
/// The bytes of a stream socket that wait to be read.
int clinux_bytes_waiting(int descriptor);
int clinux_accept(int listener, int flags);
/// The process at the other end of a connected Unix socket, as it was when it connected.
int clinux_peer_credentials(int descriptor, pid_t *pid, uid_t *user, gid_t *group);

/// Forbids that descriptors are passed to a Unix socket, or to the connections of one that listens; 0 where that holds now, 1 where
/// the kernel cannot.
int clinux_refuse_descriptors(int socket);
/// Has the kernel add the sender to every message of the socket.
int clinux_pass_credentials(int descriptor);

/// The sender of a datagram; pid is 0 where the kernel did not report it.
struct clinux_datagram {
    bool truncated;
    /// Whether it carries descriptors, which the thread that drops it closes.
    bool carries_descriptors;
    pid_t pid;
    uid_t user;
    gid_t group;
};
/// Copies the next datagram without waiting and leaves it in the queue; returns its length. Opens none of its descriptors, so
/// none has to be closed.
int clinux_peek_datagram(int descriptor, void *bytes, size_t capacity, struct clinux_datagram *datagram);
/// Drops the next datagram. The calling thread closes its descriptors, which can take as long as the sender likes.
int clinux_drop_datagram(int descriptor);
/// Refuses every sender from now on; datagrams sent before can still be read.
int clinux_refuse_datagrams(int descriptor);

/// The remaining limits of a search through processes.
struct clinux_look {
    /// Processes and descriptors.
    int64_t left;
    /// CLOCK_MONOTONIC, in nanoseconds.
    int64_t deadline;
};
/// 1 where a descriptor of the process shows a lock, 0 where none does, -ETIME where a limit is reached.
int clinux_shows_lock(pid_t process, struct clinux_look *look);

// ---- Signals and processes --------------------------------------------------------------------------------------

extern const int clinux_sigpipe;
int clinux_ignore_signal(int number);
int clinux_heed_signal(int number);
/// 1 where the process ignores the signal, 0 where it does not.
int clinux_ignores_signal(int number);
int clinux_block_signal(int number);
/// From now on a signal by which the program ends itself, such as SIGSEGV, is named on standard error before it takes effect.
void clinux_report_fatal_signals(void);

/// Calls `body` once, on a detached thread.
int clinux_thread(void (*body)(void *), void *context);
/// Calls `body` once, on a thread of its own, and waits until that has ended.
int clinux_thread_to_its_end(void (*body)(void *), void *context);
/// A descriptor that becomes readable once something is written to it.
int clinux_bell(void);

int clinux_pidfd_open(pid_t pid);
int clinux_pidfd_send_signal(int pidfd, int number);

/// How a child ended: code is CLD_EXITED, CLD_KILLED or CLD_DUMPED, as in waitid(2).
struct clinux_exit {
    int code;
    int status;
};
/// Reaps the child behind the pidfd if it has ended: 1 and `*exit` filled, or 0 while it runs. Never waits.
int clinux_reap(int pidfd, struct clinux_exit *exit);

/// The step at which a child's preparation failed, in the order of the steps.
enum clinux_stage {
    CLINUX_STAGE_SESSION = 1,
    CLINUX_STAGE_DESCRIPTORS,
    CLINUX_STAGE_SIGNALS,
    CLINUX_STAGE_LIMITS,
    CLINUX_STAGE_PARENT,
    CLINUX_STAGE_USER,
    CLINUX_STAGE_DIRECTORY,
    CLINUX_STAGE_EXECUTE,
};

/// A child writes this to its startup pipe when it cannot execute the program; end-of-file there means that it did.
struct clinux_startup_failure {
    int32_t stage;
    int32_t error;
};

/// A resource limit, in units of its resource.
struct clinux_limit {
    uint64_t soft, hard;
};

#define CLINUX_MOST_INHERITED 9

/// Everything a child needs, prepared before the clone, because after it nothing may allocate or lock.
struct clinux_spawn_request {
    const char *executable;          // absolute, or relative to `directory`: PATH is not searched
    char *const *arguments;          // NULL-terminated
    char *const *environment;        // NULL-terminated, complete
    const char *directory;           // NULL: stay
    int descriptors[4];              // become 0, 1, 2 and 3
    const int *inherited;            // become 4 and those that follow; -1 leaves a number free. All others are closed
    size_t inherited_count;          // CLINUX_MOST_INHERITED at most
    int startup;                     // the write end of a close-on-exec pipe
    int cgroup;                      // the directory of the cgroup to start in, or -1
    bool stop;                       // raise SIGSTOP before exec: starts suspended without a cgroup
    bool die_with_parent;            // SIGKILL when the thread that spawned ends
    bool switch_user;                // set user, group and groups, and forbid new privileges for good
    uid_t user;
    gid_t group;
    const gid_t *groups;
    size_t group_count;
    mode_t umask;
    // RLIMIT_NOFILE and RLIMIT_NPROC; a hard limit of 0 keeps ours.
    struct clinux_limit open_files, processes;
};

/// Starts the child in its own session and process group. Returns at once with its pid and, in `*pidfd`, a close-on-exec
/// descriptor for it; the startup pipe shows later whether the program could be executed.
///
/// A child in a frozen cgroup has not run yet, so it holds copies of all our descriptors until it is thawed. Until then no
/// process sees an end-of-file on a pipe that we close, and a descriptor closed without leaving epoll stays in it.
int clinux_spawn(const struct clinux_spawn_request *request, int *pidfd);
/// 0 where a process can be started in a cgroup, -errno where a filter of system calls forbids it.
int clinux_can_clone_into_cgroup(void);

// ---- Files -------------------------------------------------------------------------------------------------------

/// 1 where the path is on a tmpfs, 0 where it is not.
int clinux_is_in_memory(const char *path);

// ---- The wall clock ---------------------------------------------------------------------------------------------

/// A close-on-exec descriptor that becomes readable when the wall clock is set.
int clinux_wall_clock_watch(void);
/// 1 if the clock was set since the last call, 0 if not. Watches for the next time.
int clinux_wall_clock_was_set(int watch);

// ---- Memory -----------------------------------------------------------------------------------------------------

/// Gives back free heap pages, and the touched pages of code of every loaded object. Pages that are still needed come back from
/// the page cache, one minor fault each; most were needed only at the start and do not.
void clinux_release_startup_memory(void);

/// Prefetches the cache lines that hold these bytes, without waiting.
static inline void clinux_fetch(const void *memory, intptr_t start, intptr_t length)
{
    uintptr_t place = (uintptr_t)memory + (uintptr_t)start;
    for (uintptr_t line = place & ~(uintptr_t)63; line < place + (uintptr_t)length; line += 64)
        __builtin_prefetch((const void *)line);
}

// ---- Users ------------------------------------------------------------------------------------------------------

struct clinux_account {
    uid_t user;
    gid_t group;
    char home[512];
    char name[256];
};
int clinux_account_by_name(const char *name, struct clinux_account *account);
int clinux_account_by_id(uid_t user, struct clinux_account *account);
int clinux_group_by_name(const char *name, gid_t *group);
/// Writes the group's name, cut to `size`.
int clinux_group_by_id(gid_t group, char *name, size_t size);
/// The groups of the account, `group` among them; returns their number, or -ERANGE for more than `limit`.
int clinux_groups_of(const char *name, gid_t group, gid_t *groups, size_t limit);
/// Whether the group is the primary one of the user, has the user's name and lists no other member.
bool clinux_is_private_group(gid_t group, uid_t user);
/// Whether the file at the path has an access control list; true where that cannot be read.
bool clinux_has_access_list(const char *path);

/// A change of owner: from one user's files on this file system to another user.
struct clinux_giving {
    uint64_t file_system;
    uid_t former;
    uid_t user;
    gid_t group;
};
enum { CLINUX_NOT_GIVEN, CLINUX_GIVEN };
/// Changes the owner of one entry of a directory, without following links. `inside` is the entry's descriptor where it is a
/// directory of this file system, which the caller reads and closes; -1 otherwise.
int clinux_give(int directory, const char *name, const struct clinux_giving *giving, int *inside);
int clinux_file_system(int descriptor, uint64_t *number);

/// Creates and locks the file for a user's number; -EWOULDBLOCK where another process holds it, -ESTALE where it was removed
/// at that moment.
int clinux_lock_user(const char *path);
