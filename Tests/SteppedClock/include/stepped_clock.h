/* Clocks that a test moves: linked into a program, they replace its clinux_clock_nanoseconds. */
#pragma once
#include <stdint.h>

int64_t clinux_clock_nanoseconds(int clock);
