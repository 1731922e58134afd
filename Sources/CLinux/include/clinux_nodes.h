// The nodes of devices: serial lines, hidraw and evdev. Every function returns >= 0, or -errno.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether the device behind the descriptor is gone: hung up, or in error.
int clinux_is_hung_up(int descriptor);
/// Takes or releases the advisory lock that well-behaved programs respect (flock); -EWOULDBLOCK where another has it.
int clinux_node_lock(int descriptor);
int clinux_node_unlock(int descriptor);

// ---- Serial lines -----------------------------------------------------------------------------------------------

struct clinux_line {
    uint32_t baud;
    uint8_t data_bits; // 5 to 8
    uint8_t stop_bits; // 1 or 2
    char parity;       // 'n', 'e', 'o'
    char flow;         // 'n', 'h', 's'; 'b' where both are set
    bool hangs_up;     // DTR and RTS fall when the last descriptor is closed
};
/// Sets the line raw: no echo, signals or translation, modem status ignored, a read returns as soon as there is a byte.
int clinux_line_set(int descriptor, const struct clinux_line *line);
int clinux_line_get(int descriptor, struct clinux_line *line);
/// Discards the bytes that wait to be read and to be sent.
int clinux_line_flush(int descriptor);
/// Discards the bytes that wait to be sent.
int clinux_line_discard(int descriptor);

/// From now on no other program can open the line, except with CAP_SYS_ADMIN.
int clinux_line_exclude(int descriptor);
int clinux_line_include(int descriptor);
/// 1 where a program has set that.
int clinux_line_is_exclusive(int descriptor);

/// Raises or lowers one modem line.
int clinux_line_set_dtr(int descriptor, bool high);
int clinux_line_set_rts(int descriptor, bool high);

// ---- Reports of HID devices -------------------------------------------------------------------------------------

/// Copies the report descriptor, and returns its length, which is never more than `capacity`.
int clinux_hidraw_descriptor(int descriptor, uint8_t *bytes, size_t capacity);

// ---- Input events -----------------------------------------------------------------------------------------------

int clinux_evdev_grab(int descriptor, bool grab);
/// Sets the clock that stamps the events of this descriptor.
int clinux_evdev_set_clock(int descriptor, int clock);
/// The codes of a type that the device has; type 0 is the types themselves. One bit each, the lowest first.
int clinux_evdev_codes(int descriptor, int type, uint8_t *bits, size_t capacity);
/// The keys that are down, switches that are on or lights that are lit; `type` is EV_KEY, EV_SW or EV_LED. Drops waiting
/// events of that type.
int clinux_evdev_standing(int descriptor, int type, uint8_t *bits, size_t capacity);
int clinux_evdev_axis(int descriptor, int code, int32_t *value, int32_t *maximum);
/// The value that each slot has for a multitouch code; at most 64 slots.
int clinux_evdev_slots(int descriptor, int code, int32_t *values, size_t count);
