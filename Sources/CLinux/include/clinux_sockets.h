// Sockets that are held for handlers: made, connected, looked at without a read, and handed over. Every function returns >= 0, or -errno.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "clinux_network.h"

/// Looks a name up, which may take long; returns how many addresses it stands for, or -ENOENT. Of each come its length, 4 or 16, and
/// CLINUX_ADDRESS_BYTES bytes.
int clinux_resolve(const char *name, bool datagrams, uint8_t *lengths, uint8_t *addresses, size_t capacity);

/// A socket that has begun to connect, non-blocking and close-on-exec: writable once that is decided.
int clinux_connect_network(const uint8_t *bytes, size_t count, uint16_t port, bool datagrams);
/// 0 where it is connected by now, or why it is not.
int clinux_connect_outcome(int descriptor);
/// A bound socket for datagrams, non-blocking and close-on-exec.
int clinux_bind_network(const uint8_t *bytes, size_t count, uint16_t port);

/// By whose rights something is done; without groups it is by this process's own.
struct clinux_identity {
    uid_t user;
    gid_t group;
};

/// Calls `body` with those rights. Call it only on a thread that ends soon afterwards: the thread keeps the other
/// user's groups.
int clinux_act_as(
    struct clinux_identity identity, const gid_t *groups, size_t count, void (*body)(void *), void *context);

/// A connected Unix socket, non-blocking and close-on-exec. The program at the other end sees the user. Where the kernel can refuse
/// descriptors, none can be passed to it.
int clinux_connect_unix(const char *path, struct clinux_identity identity, const gid_t *groups, size_t count);
/// The same that listens, in a new file of the user's that has `mode` from its first moment. One that no process holds is replaced;
/// -EEXIST where the path is no socket, -EADDRINUSE where a process holds it.
int clinux_listen_unix(
    const char *path, mode_t mode, struct clinux_identity identity, const gid_t *groups, size_t count);
/// Removes the file of a Unix socket; -EEXIST where the path is none.
int clinux_remove_unix(const char *path, struct clinux_identity identity, const gid_t *groups, size_t count);

/// What a look at a socket finds.
struct clinux_socket_look {
    int64_t unread;   // bytes, or connections that wait to be accepted
    int64_t volume;   // the same in a unit that only grows while nothing is read
    int64_t received; // bytes in all since it was opened; -1 where that is not counted
    bool ended;       // the peer sends no more
    bool failed;      // it was reset, or timed out
};

/// Reads nothing, and leaves an error where it is.
int clinux_look_at_socket(int descriptor, struct clinux_socket_look *look);

/// When the datagram arrived that was read last, in nanoseconds since 1970, whatever process read it; 0 where none was. The kernel
/// notes that from the first call on. Fails for sockets that are not of the network.
int clinux_latest_datagram(int descriptor, int64_t *nanoseconds);

/// The last close of the socket does not wait until what was sent has arrived (SO_LINGER).
int clinux_forget_linger(int descriptor);
/// The peer is asked every two seconds whether it is there, and missed after ten; or as rarely again as usual.
int clinux_probe_peer(int descriptor, bool isProbed);
/// The address from which packets to a host would leave this machine; returns 4 or 16.
int clinux_way_to(const uint8_t *bytes, size_t count, uint8_t own[CLINUX_ADDRESS_BYTES]);

/// Two connected stream sockets, close-on-exec. The first sends, and nothing can be sent into it.
int clinux_one_way_pair(int ends[2]);
/// Sends the text with a copy of a descriptor, all of it or nothing.
int clinux_pass_descriptor(int socket, const void *text, size_t length, int passed);
