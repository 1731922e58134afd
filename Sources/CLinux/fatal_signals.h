// The signals by which a program ends itself: a trap of Swift, an abort of a library, a fault in memory.
#pragma once

#include <signal.h>

static const int fatal_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
#define FATAL_SIGNALS (sizeof fatal_signals / sizeof *fatal_signals)
