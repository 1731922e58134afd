// zlib as Swift may call it: one text into the form that HTTP calls gzip, and compressed bytes unpacked piece by piece.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
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

/// Begins to unpack; `window` is 15 for zlib's header, 31 for gzip's, -15 for none. NULL where memory is short.
static inline void *wake_inflate_begin(int window) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (stream && inflateInit2(stream, window) == Z_OK) return stream;
    free(stream);
    return NULL;
}

/// Unpacks what fits: 1 at the end of the compressed bytes, 0 where more is wanted, -1 where they are damaged.
static inline int wake_inflate(void *state, const uint8_t *bytes, size_t count, size_t *used, uint8_t *into, size_t capacity,
                               size_t *written) {
    z_stream *stream = state;
    stream->next_in = (Bytef *) bytes;
    stream->avail_in = (uInt) count;
    stream->next_out = into;
    stream->avail_out = (uInt) capacity;
    int outcome = inflate(stream, Z_NO_FLUSH);
    *used = count - stream->avail_in;
    *written = capacity - stream->avail_out;
    if (outcome == Z_STREAM_END) return 1;
    return outcome == Z_OK || outcome == Z_BUF_ERROR ? 0 : -1;
}

static inline void wake_inflate_end(void *state) {
    inflateEnd(state);
    free(state);
}
