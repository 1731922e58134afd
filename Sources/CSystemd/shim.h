// What this one reason needs: sd-event, sd-bus by its non-variadic calls, sd_notify, and the epoll masks that sd-event takes.
// All of it imports as it is; beside it is what must cost next to nothing for each of many signals.
#pragma once
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

/// Whether `name` is one of `names`, which stand one behind the other, each ended by a zero, the last by two.
static inline bool csystemd_is_among(const char *name, const char *names) {
    for (; *names; names += strlen(names) + 1) {
        if (strcmp(name, names) == 0) { return true; }
    }
    return false;
}

/// Whether a PropertiesChanged tells of no property but those of `names`. Reads nothing of their values, and leaves the message
/// somewhere within.
static inline bool csystemd_changes_only(sd_bus_message *message, const void *names) {
    const char *name;
    int more;
    if (sd_bus_message_rewind(message, 1) < 0 || sd_bus_message_skip(message, "s") < 0) { return false; }
    if (sd_bus_message_enter_container(message, 'a', "{sv}") <= 0) { return false; }
    while ((more = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        if (sd_bus_message_read_basic(message, 's', &name) <= 0 || !csystemd_is_among(name, names)) { return false; }
        if (sd_bus_message_skip(message, "v") < 0 || sd_bus_message_exit_container(message) < 0) { return false; }
    }
    if (more < 0 || sd_bus_message_exit_container(message) < 0) { return false; }
    if (sd_bus_message_enter_container(message, 'a', "s") < 0) { return false; }
    while ((more = sd_bus_message_read_basic(message, 's', &name)) > 0) {
        if (!csystemd_is_among(name, names)) { return false; }
    }
    return more == 0;
}
