// TCP for Swift: numeric addresses as bytes, listening, and both ends of a connection. Every function returns >= 0, or -errno.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CLINUX_ADDRESS_BYTES 16
#define CLINUX_ADDRESS_TEXT 46

/// Reads a numeric address into `bytes`; returns 4 or 16. An IPv4 address in an IPv6 one is read as IPv4.
int clinux_read_address(const char *text, uint8_t bytes[CLINUX_ADDRESS_BYTES]);
/// Writes 4 or 16 bytes as a numeric address.
int clinux_write_address(const uint8_t *bytes, size_t count, char text[CLINUX_ADDRESS_TEXT]);

/// A listening socket, non-blocking and close-on-exec. The address need not be this machine's yet.
/// The kernel ends its connections two minutes after the other machine has vanished.
int clinux_listen_network(const uint8_t *bytes, size_t count, uint16_t port, int backlog);
/// The address at the other end of a connected socket, or at this end; returns 4 or 16.
int clinux_peer_address(int descriptor, uint8_t bytes[CLINUX_ADDRESS_BYTES], uint16_t *port);
int clinux_own_address(int descriptor, uint8_t bytes[CLINUX_ADDRESS_BYTES], uint16_t *port);
