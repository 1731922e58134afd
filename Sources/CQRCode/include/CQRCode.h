// QR codes by libqrencode, which is loaded when one is drawn: only people at a terminal want one.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Writes a byte for each module, row by row, 1 for a dark one. Returns the modules of a side, or 0 where the library is not
/// there or the text does not fit in `capacity` modules.
int wake_qr_encode(const char *text, uint8_t *modules, size_t capacity);
