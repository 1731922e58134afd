// glibc's getopt_long as Swift may call it: its results are process-wide variables, which Swift 6 rightly will not touch.
#pragma once
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

/// One option that was found, or what is wrong with it.
struct wake_option {
    /// The option's `val`, ':' for a missing value, '?' for anything else, -1 at the end.
    int found;
    /// With ':' and '?': the option's `val` or letter; 0 for an unknown long option.
    int culprit;
    /// The option's value, or NULL.
    const char *value;
    /// The index of the next word to be looked at; at the end, of the first operand.
    int next;
};

/// Finds the next option. `first` starts over. The words are reordered, operands last.
static inline struct wake_option wake_next_option(int count, char **words, const char *letters,
                                                  const struct option *table, bool first) {
    if (first) optind = 0;
    opterr = 0;
    optopt = 0;
    optarg = NULL;
    int found = getopt_long(count, words, letters, table, NULL);
    struct wake_option result = {.found = found, .culprit = optopt, .value = optarg, .next = optind};
    return result;
}
