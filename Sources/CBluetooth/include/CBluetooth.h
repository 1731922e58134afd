// The kernel's Bluetooth monitor and management channels as Swift may call them: their sockets, the monitor's filter, and its
// packets with the time they passed.
// Every function returns >= 0, or -errno. No system header of sockets is named here: in this module it would hide what
// Glibc's own module gives.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// A socket that is not bound yet and hears nothing.
int wake_bluetooth_socket(void);

/// From here on it hears every packet of every controller that its filter lets through; first come those that are there.
int wake_monitor_bind(int descriptor);

/// From here on it takes commands, and hears of everything that anybody's commands bring about.
int wake_management_bind(int descriptor);

/// Has the kernel drop all but what tells of links and controllers before anybody is woken for it: of the monitor's packets
/// New Index, Delete Index and Index Information, and Device Connected of the management channel; of HCI events Disconnection
/// Complete, the three LE Connection Completes, encryption that failed, and commands for which there was no room; of HCI
/// commands those by which a controller begins to scan.
int wake_monitor_keep_links(int descriptor);

/// Has the kernel stamp packets, and keep many of them while nobody reads. What it refuses of this is no matter.
void wake_monitor_prepare(int descriptor, int buffer_bytes);

/// One packet; `*microseconds` since 1970 is when it passed, or stays as it is where the kernel does not say.
int wake_monitor_receive(int descriptor, void *bytes, size_t size, int64_t *microseconds);
