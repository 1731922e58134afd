// zlib as Swift may call it: one text into the form that HTTP calls gzip. Nothing here keeps state.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/// How many bytes `wake_gzip` writes at most for so many.
static inline size_t wake_gzip_bound(size_t count) { return compressBound(count) + 18; }

/// Writes the compressed bytes to `into`, and returns how many they are; 0 where they do not fit, or memory is short.
static inline size_t wake_gzip(const uint8_t *bytes, size_t count, uint8_t *into, size_t capacity) {
    z_stream stream = {.next_in = (Bytef *) bytes, .avail_in = (uInt) count, .next_out = into, .avail_out = (uInt) capacity};
    // 15 is the largest window; 16 more asks for gzip's header in the place of zlib's.
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    int outcome = deflate(&stream, Z_FINISH);
    size_t written = stream.total_out;
    deflateEnd(&stream);
    return outcome == Z_STREAM_END ? written : 0;
}
