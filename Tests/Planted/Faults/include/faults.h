// Faults made on purpose, for Tests/Planted.
#pragma once

/// Reads what was given back to the heap.
int planted_use_after_free(void);
/// Adds `one` to the greatest int.
int planted_overflow(int one);
/// Two threads count without a lock.
int planted_race(void);
