// What a benchmark needs in C: a board that two processes share, the handler that stamps its reads, and the bare kernel way.
#pragma once

#include <stdint.h>
#include <time.h>

/// In nanoseconds.
static inline int64_t benchmark_now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#define BENCHMARK_STAMPS 4096
#define BENCHMARK_THAW 192

/// Written by one handler or several, read by whoever conducts the measurement. The peers write its first four words.
struct benchmark_board {
    int64_t read_at;     // CLOCK_MONOTONIC in nanoseconds, right after the latest read that held an event line
    uint64_t reads;      // how many reads held one
    uint64_t resumed;    // how many of those began with the notice of a thaw
    uint64_t sequence;   // seq of the newest event line
    int64_t expiring_at; // when a warning was read last
    int64_t stamps[BENCHMARK_STAMPS]; // by seq, when the read returned that held the event
    char thaw[BENCHMARK_THAW];        // the beginning of the latest thaw's notice
    int counts;                       // whether the handler counts event lines, which takes time
    uint64_t events;                  // how many it has counted
};

/// Maps the board in the file at `path`, made where it is missing. NULL with errno set where that fails.
struct benchmark_board *benchmark_board(const char *path);
int64_t benchmark_read_at(const struct benchmark_board *board);
uint64_t benchmark_reads(const struct benchmark_board *board);
uint64_t benchmark_resumed(const struct benchmark_board *board);
uint64_t benchmark_sequence(const struct benchmark_board *board);
int64_t benchmark_expiring_at(const struct benchmark_board *board);
/// To be said before the handler is started: a number that was given to an event may never come, so they are counted one by one.
void benchmark_count_events(struct benchmark_board *board);
uint64_t benchmark_events(const struct benchmark_board *board);
/// When the notice of the latest thaw was composed, as it says of itself; on CLOCK_MONOTONIC, and 0 where it does not say.
int64_t benchmark_woken_at(const struct benchmark_board *board);
int64_t benchmark_stamp(const struct benchmark_board *board, uint64_t sequence);

/// The null handler: reads lines on descriptor 0, stamps each read, acknowledges the newest event on descriptor 3.
/// Returns at end-of-file. It acknowledges in its first `answers` reads that hold an event, and is silent after them.
void benchmark_handle(struct benchmark_board *board, uint64_t answers);

/// Our ends of one handler; they are the caller's.
struct benchmark_end {
    int input;     // its standard input
    int replies;   // its descriptor 3
    int freezer;   // its cgroup.freeze, open for writing
};
/// What the limit passes on, and to whom.
struct benchmark_way {
    int source;    // where the device's bytes come
    int count;     // of handlers, each of which is woken as often, one for each word of the device
    const struct benchmark_end *ends;
};
/// Only the calls that waking a frozen process takes: wait, read, write a line, thaw; then wait, read the reply, freeze.
/// Returns at the source's end-of-file, or -errno.
int benchmark_pass_on(const struct benchmark_way *way);

/// Many handlers: their standard inputs, and their cgroup.freeze open for writing.
struct benchmark_crowd {
    int source;
    int count;
    const int *inputs;
    const int *freezers;
    int64_t warn_after;   // in nanoseconds from the writing of each one's event on
    int64_t freeze_after;
    int at_once;          // all of them from the device's word on instead
};
/// With each word of the device: thaws all with an event, and then warns and freezes each when that is due, with nothing else
/// between the calls. Returns at the source's end-of-file, or -errno.
int benchmark_lead(const struct benchmark_crowd *crowd);

/// What udev's RUN and a systemd template do with each event, and nothing else: starts `words`, whose standard input has
/// the event line. Returns at the end-of-file of `source`, or -errno.
int benchmark_start_each(int source, char *const words[]);

/// Waits until each of the cgroups whose cgroup.events are open as `events` says that it is frozen, and stamps that.
/// Returns how many did within `milliseconds`, or -errno.
int benchmark_watch_freezes(const int *events, int count, int milliseconds, int64_t *stamps);

/// Runs this process and its children before all others of the machine, so that strangers' work does not show. 0 or -errno.
int benchmark_take_precedence(void);
/// Lets this process and its children open as many descriptors as the machine grants. 0 or -errno.
int benchmark_open_many(void);

/// How many system calls the first thread of a process of ours makes from now on to its end, or -errno.
int64_t benchmark_count_calls(int pid);

/// Stops a process of ours, so that it can be stepped through. 0 or -errno.
int benchmark_halt(int pid);
/// Where a process has the kernel's own code for telling the time.
struct benchmark_clock {
    uint64_t start;
    uint64_t end;
};
/// Steps through one wake of a process that was stopped and has something to read on descriptor 0: from that read to the write
/// that thaws, but for what tells the time. `places` gets the address of each instruction; returns how many there are, or
/// -errno: EAGAIN where it thaws nobody, ENOBUFS for more than `room`, ESRCH where it ends, ENOSYS on processors other than x86-64.
int64_t benchmark_step(int pid, const struct benchmark_clock *clock, uint64_t *places, int64_t room);
/// Lets it go on by itself.
void benchmark_resume(int pid);
