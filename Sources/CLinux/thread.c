// A thread for one call that may take long. It handles no signal but the fatal ones: all others belong to the loop.
#define _GNU_SOURCE
#include "clinux.h"
#include "fatal_signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

// The work is a few calls deep, except for loading a library. A page of the stack that is not touched takes no memory.
#define STACK (1024 * 1024)

struct work {
    void (*body)(void *);
    void *context;
};

static void *run(void *argument) {
    struct work work = *(struct work *)argument;
    free(argument);
    work.body(work.context);
    return NULL;
}

static int start(struct work *work, int state, pthread_t *thread) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    pthread_attr_setdetachstate(&attributes, state);
    pthread_attr_setstacksize(&attributes, STACK);
    error = pthread_create(thread, &attributes, run, work);
    pthread_attr_destroy(&attributes);
    return error;
}

static int begin(void (*body)(void *), void *context, int state, pthread_t *thread) {
    struct work *work = malloc(sizeof *work);
    if (!work) return -ENOMEM;
    *work = (struct work){.body = body, .context = context};
    sigset_t all, before;
    sigfillset(&all);
    // Blocked, these would end the program without its last sentence.
    for (size_t place = 0; place < FATAL_SIGNALS; place++) sigdelset(&all, fatal_signals[place]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = start(work, state, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) free(work);
    return -error;
}

int clinux_thread(void (*body)(void *), void *context) {
    pthread_t thread;
    return begin(body, context, PTHREAD_CREATE_DETACHED, &thread);
}

int clinux_thread_to_its_end(void (*body)(void *), void *context) {
    pthread_t thread;
    int failure = begin(body, context, PTHREAD_CREATE_JOINABLE, &thread);
    return failure < 0 ? failure : -pthread_join(thread, NULL);
}
