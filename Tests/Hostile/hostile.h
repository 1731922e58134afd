// What the files of the hostile program share: the handler's own voice, and the attacks by name.
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stddef.h>
#include <stdint.h>

/// What an attack is told at each event of its phase.
struct turn {
    unsigned number; ///< events of the phase before this one, in every life of the handler together
    int is_first;    ///< whether this life of the process has not attacked before
    char **words;    ///< what stands behind its name and the first beat; ends with NULL
};

/// Writes a whole line to descriptor 3, one thread at a time.
void say(const char *line, size_t size);

/// Ends this life of the handler once the event that it has in hand is acknowledged.
void leave_after_answer(void);

/// Seconds of the monotonic clock.
double now(void);

/// The number at that place of the words; `otherwise` where there is none.
long number_of(char **words, int place, long otherwise);

/// As many open files as the kernel lets this process have; returns that number.
long raise_file_limit(void);

/// In a child: dies with its parent, and by itself after so many seconds.
void tie_child(unsigned seconds);

/// Stands still for good.
_Noreturn void hold(void);

/// A connection to a peer that never reads, full, whose last close waits. Words: for how many seconds, how many are sent in all, and
/// the file with the port of the peers, where they are another process's.
int lingering_socket(char **words);

/// Writes more than the peer's window takes, so that some of it stays unsent.
void stuff(int sender);

/// The last close waits until all is sent, for so many seconds at most.
void set_linger(int sender, int seconds);

/// Sends the text with the last reference to the socket; false where it may not be sent.
int give_away(int channel, const char *text, int sender);

// Attacks of a handler, called before the event is acknowledged.
void linger_on_replies(const struct turn *turn);
void linger_on_notices(const struct turn *turn);
void linger_and_exit(const struct turn *turn);
void linger_on_held(const struct turn *turn);
void give_up_filled(const struct turn *turn);
void linger_on_channel(const struct turn *turn);
void keep_lock_of_held(const struct turn *turn);
void open_files(const struct turn *turn);
void fork_much(const struct turn *turn);
void start_threads(const struct turn *turn);
void touch_memory(const struct turn *turn);
void flood_replies(const struct turn *turn);
void flood_log(const struct turn *turn);
void flood_notices(const struct turn *turn);
void lock_ranges(const struct turn *turn);
void lock_descriptions(const struct turn *turn);
void fill_epolls(const struct turn *turn);
void steal(const struct turn *turn);
void exchange_paths(const struct turn *turn);
void order_paths(const struct turn *turn);

// Attacks from outside, with the words behind their name; each returns its exit status.
int swap_file(char **words);
int connect_much(char **words);
int keep_peers(char **words);
int fill_callers(char **words);

#endif
