// The last sentence of a program that ends by a fatal signal. It needs no memory, no descriptor and no lock.
#define _GNU_SOURCE
#include "fatal_signals.h"
#include "clinux.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

// For the main thread, whose own stack may be used up.
static char stack[64 * 1024];

static struct iovec piece(const char *text) {
    return (struct iovec){.iov_base = (void *)text, .iov_len = strlen(text)};
}

static void report(int number) {
    const struct iovec sentence[] = {
        piece(program_invocation_short_name),
        piece(": ended by SIG"),
        piece(sigabbrev_np(number)),
        piece(": no memory was left, or it has a fault; report a fault with the lines above\n"),
    };
    (void)!writev(STDERR_FILENO, sentence, sizeof sentence / sizeof *sentence);
    // The default action follows once this handler returns, so that the status and a core dump show the signal.
    raise(number);
}

void clinux_report_fatal_signals(void) {
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    const struct sigaction action = {.sa_handler = report, .sa_flags = SA_RESETHAND | SA_ONSTACK};
    for (size_t place = 0; place < FATAL_SIGNALS; place++) {
        struct sigaction present;
        // A sanitizer and the backtraces of Swift's runtime report in their own way.
        if (sigaction(fatal_signals[place], NULL, &present) == 0 && present.sa_handler == SIG_DFL)
            sigaction(fatal_signals[place], &action, NULL);
    }
}
