// The kernel's Bluetooth monitor and management channels for Swift: their sockets, the monitor's filter, and its packets with
// their times.
// Every function returns >= 0, or -errno. This includes no system header of sockets: in this module it would hide Glibc's own
// declarations.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// A socket that is not bound yet and receives nothing.
int wake_bluetooth_socket(void);

/// Binds it: it then receives every packet that passes its filter; first come packets about the present controllers.
int wake_monitor_bind(int descriptor);

/// Binds it: it then accepts commands, and receives the events of every program's commands.
int wake_management_bind(int descriptor);

/// Has the kernel drop all packets but those about links and controllers, so that they wake no one: it passes of the monitor's packets
/// New Index, Delete Index and Index Information, and Device Connected of the management channel; of HCI events Disconnection
/// Complete, the three LE Connection Completes, encryption that failed, and commands for which there was no room; of HCI
/// commands those by which a controller begins to scan.
int wake_monitor_keep_links(int descriptor);

/// The most addresses that `wake_monitor_keep_reports` tells apart.
#define WAKE_MOST_REPORTED 128

/// Has the kernel drop all packets but reports of advertisements; of those, where `count` is not 0, all but those from these
/// addresses, six bytes each as they go over the air, and those that stand with others in one event.
int wake_monitor_keep_reports(int descriptor, const uint8_t *addresses, size_t count);

/// Has the kernel stamp packets, and keep many unread ones. A refusal does not matter.
void wake_monitor_prepare(int descriptor, int buffer_bytes);

/// One packet; `*microseconds` since 1970 is its time, and stays unchanged where the kernel does not report it.
int wake_monitor_receive(int descriptor, void *bytes, size_t size, int64_t *microseconds);
