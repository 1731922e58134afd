/* The door of libFuzzer, which has no header of its own. */
#ifndef WAKEBRIDGE_FUZZER_H
#define WAKEBRIDGE_FUZZER_H

#include <stddef.h>
#include <stdint.h>

/* Calls read with one input after the other; an input for which it returns -1 is not kept. Returns the exit status. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*read)(const uint8_t *bytes, size_t count));

#endif
