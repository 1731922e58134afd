/* Clocks that a test moves: linked into a program, they replace its clinux_clock_nanoseconds. */
#pragma once
#include <stdint.h>

int64_t clinux_clock_nanoseconds(int clock);

/* Stops the clocks of the calling thread until they are moved; other threads keep theirs. Holds are counted. */
void stepped_clock_hold(void);
void stepped_clock_move(int64_t nanoseconds);
void stepped_clock_release(void);
