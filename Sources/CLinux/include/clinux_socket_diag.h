// The kernel's list of sockets, over sock_diag(7). Every function returns >= 0, or -errno.
#pragma once

/// A close-on-exec socket for ``clinux_socket_diag_request``; it never waits.
int clinux_socket_diag(void);
enum clinux_socket_diag_list { CLINUX_TCP_LISTENERS, CLINUX_TCP6_LISTENERS, CLINUX_UNIX_SOCKETS };
/// Asks for the sockets of this network namespace: those that listen, and of Unix sockets also those that are connected, with
/// their names and their peers. The answer comes in several datagrams of at most 32 KiB; the last message is NLMSG_DONE.
int clinux_socket_diag_request(int socket, enum clinux_socket_diag_list list);
