// The faults that the sanitizers must see in what is written in C, each made on purpose.
#include "faults.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

int planted_use_after_free(void) {
    volatile int *number = malloc(sizeof *number);
    if (!number) return 0;
    *number = 1;
    free((void *)number);
    return *number;
}

int planted_overflow(int one) { return INT_MAX + one; }

static int shared;

static void *add(void *unused) {
    for (int turn = 0; turn < 1000; turn++) shared++;
    return unused;
}

int planted_race(void) {
    pthread_t first, second;
    if (pthread_create(&first, NULL, add, NULL) || pthread_create(&second, NULL, add, NULL)) return 0;
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return shared;
}
