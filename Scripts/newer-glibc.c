// The functions of glibc 2.38 that Debian 13's Swift runtime and libstdc++ call, for programs that run with the 2.36 of Debian 12.
// Only Scripts/arm64-build.sh links them. They are hidden, so that no library finds them in place of glibc's own.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// C23 reads "0b101" too where any base may stand; what calls these names a base, or reads what it printed itself.
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }

long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }

unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int count = vsscanf(text, format, values);
    va_end(values);
    return count;
}

size_t strlcpy(char *copy, const char *text, size_t room) {
    size_t length = strlen(text);
    if (room > 0) {
        size_t kept = length < room ? length : room - 1;
        memcpy(copy, text, kept);
        copy[kept] = '\0';
    }
    return length;
}
