// The screen between a broker and Paho, which reads packets of any length and kind into memory. The screen passes the
// beginning of a message that is too long; it reads and drops the rest. It ends the connection at a packet that no
// broker sends to this client. Paho reads the bytes of a packet's fixed header one by one, and its body after that; the
// screen supplies both.
#include "screen.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "calls.h"

enum { PUBLISH = 3, PINGRESP = 0xd0, AT_LEAST_ONCE = 1 };
/// A broker's longest answer is an acknowledgement of one subscription.
enum { LONGEST_ANSWER = 16 };
/// A TLS record is never longer, so OpenSSL has nothing buffered after such a read.
enum { DROPPED_AT_ONCE = 1 << 14, DROPPED_BETWEEN_ANSWERS = 1 << 16 };

enum stage {
    /// A fixed header is arriving; Paho has read none of it.
    STAGE_HEAD,
    /// Paho reads the fixed header, which is complete.
    STAGE_HEAD_GIVEN,
    STAGE_BODY,
};

/// Paho's place in the packets of one connection.
struct stream {
    struct stream *next;
    int socket;
    enum stage stage;
    /// The fixed header: a byte for the packet's kind, and one to four for its length.
    uint8_t head[5];
    /// Bytes of it that have arrived, and bytes that Paho has read.
    size_t head_count, head_given;
    /// Bytes of the body that Paho has still to read, and bytes behind them that it does not get.
    size_t body, surplus;
    /// Bytes of the surplus that were read since Paho last got something.
    size_t dropped;
};

/// The source of a stream: the socket itself, or TLS over it.
struct origin {
    int socket;
    void *tls;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct stream *streams;
static int (*tls_read)(void *tls, void *bytes, int count);
static int (*tls_socket)(const void *tls);
static _Thread_local const char *fault;

static ssize_t read_some(const struct origin *origin, void *bytes, size_t count) {
    if (origin->tls == NULL) return recv(origin->socket, bytes, count, 0);
    return tls_read(origin->tls, bytes, (int) count);
}

// MARK: Streams

static struct stream *stream_of(int socket) {
    for (struct stream *each = streams; each != NULL; each = each->next) {
        if (each->socket == socket) return each;
    }
    struct stream *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    *made = (struct stream){.next = streams, .socket = socket};
    return streams = made;
}

static void forget(int socket) {
    pthread_mutex_lock(&guard);
    for (struct stream **each = &streams; *each != NULL; each = &(*each)->next) {
        if ((*each)->socket != socket) continue;
        struct stream *gone = *each;
        *each = gone->next;
        free(gone);
        break;
    }
    pthread_mutex_unlock(&guard);
}

// MARK: Packets

static void give(struct stream *stream, uint8_t kind, size_t length) {
    *stream = (struct stream){
        .next = stream->next, .socket = stream->socket, .stage = STAGE_HEAD_GIVEN, .head = {kind}, .head_count = 1,
        .body = length, .surplus = stream->surplus,
    };
    do {
        stream->head[stream->head_count++] = (length & 0x7f) | (length > 0x7f ? 0x80 : 0);
        length >>= 7;
    } while (length > 0);
}

/// Reads and drops the surplus. Paho expects an answer to its ping meanwhile, and gets one now and then, since a broker
/// that sends is alive.
static ssize_t drop(struct stream *stream, const struct origin *origin) {
    uint8_t bytes[DROPPED_AT_ONCE];
    while (stream->surplus > 0) {
        if (stream->dropped >= DROPPED_BETWEEN_ANSWERS && stream->surplus >= sizeof bytes) {
            give(stream, PINGRESP, 0);
            break;
        }
        ssize_t got = read_some(origin, bytes, stream->surplus < sizeof bytes ? stream->surplus : sizeof bytes);
        if (got <= 0) return got;
        stream->surplus -= (size_t) got;
        stream->dropped += (size_t) got;
    }
    return 1;
}

/// The reason to end the connection at this packet; null where Paho gets the packet or its beginning.
static const char *judge(struct stream *stream, size_t length) {
    uint8_t kind = stream->head[0];
    bool is_message = kind >> 4 == PUBLISH;
    if (!is_message && length > LONGEST_ANSWER) return "it sent a packet that is too long for its kind";
    if (is_message && (kind >> 1 & 3) > AT_LEAST_ONCE) return "it sent a message with a quality that was not asked for";
    bool is_cut = length > LONGEST_BODY;
    stream->surplus = is_cut ? length - LONGEST_BODY : 0;
    give(stream, kind, is_cut ? LONGEST_BODY : length);
    return NULL;
}

static ssize_t read_head(struct stream *stream, const struct origin *origin) {
    while (stream->head_count < 2 || stream->head[stream->head_count - 1] & 0x80) {
        if (stream->head_count == sizeof stream->head) {
            fault = "it sent a packet without a length";
            return 0;
        }
        ssize_t got = read_some(origin, &stream->head[stream->head_count], 1);
        if (got <= 0) return got;
        stream->head_count++;
    }
    size_t length = 0;
    for (size_t at = 1; at < stream->head_count; at++) length |= (size_t) (stream->head[at] & 0x7f) << (7 * (at - 1));
    fault = judge(stream, length);
    return fault == NULL;
}

static ssize_t give_head(struct stream *stream, void *bytes, size_t count) {
    size_t left = stream->head_count - stream->head_given;
    if (count > left) count = left;
    memcpy(bytes, &stream->head[stream->head_given], count);
    stream->head_given += count;
    if (count == left) {
        stream->stage = stream->body > 0 ? STAGE_BODY : STAGE_HEAD;
        stream->head_count = 0;
    }
    return (ssize_t) count;
}

static ssize_t give_body(struct stream *stream, const struct origin *origin, void *bytes, size_t count) {
    ssize_t got = read_some(origin, bytes, count < stream->body ? count : stream->body);
    if (got <= 0) return got;
    stream->body -= (size_t) got;
    if (stream->body == 0) stream->stage = STAGE_HEAD;
    return got;
}

/// As recv(): zero ends the connection.
static ssize_t read_next(struct stream *stream, const struct origin *origin, void *bytes, size_t count) {
    if (stream->stage == STAGE_HEAD) {
        ssize_t got = drop(stream, origin);
        if (got > 0 && stream->stage == STAGE_HEAD) got = read_head(stream, origin);
        if (got <= 0) return got;
    }
    if (stream->stage == STAGE_HEAD_GIVEN) return give_head(stream, bytes, count);
    return give_body(stream, origin, bytes, count);
}

static ssize_t screened_read(const struct origin *origin, void *bytes, size_t count) {
    pthread_mutex_lock(&guard);
    fault = NULL;
    struct stream *stream = stream_of(origin->socket);
    ssize_t got = stream == NULL ? 0 : read_next(stream, origin, bytes, count);
    pthread_mutex_unlock(&guard);
    return got;
}

// MARK: Replacements for Paho's calls

static ssize_t screened_recv(int socket, void *bytes, size_t count, int flags) {
    (void) flags;
    return screened_read(&(struct origin){.socket = socket}, bytes, count);
}

static int screened_tls_read(void *tls, void *bytes, int count) {
    if (count <= 0) return 0;
    return (int) screened_read(&(struct origin){.socket = tls_socket(tls), .tls = tls}, bytes, (size_t) count);
}

/// The next connection may get the same number, so its stream must begin anew.
static int screened_close(int descriptor) {
    forget(descriptor);
    return close(descriptor);
}

const char *screen_install(void *library) {
    *(void **) &tls_read = dlsym(library, "SSL_read");
    *(void **) &tls_socket = dlsym(library, "SSL_get_fd");
    const void *inside = dlsym(library, "MQTTAsync_create");
    bool is_installed = tls_read != NULL && tls_socket != NULL && inside != NULL &&
                        wake_redirect_calls(inside, "recv", (void *) screened_recv) &&
                        wake_redirect_calls(inside, "SSL_read", (void *) screened_tls_read) &&
                        wake_redirect_calls(inside, "close", (void *) screened_close);
    return is_installed ? NULL : "it reads in a way that is not known here, so nothing bounds what a broker sends";
}

const char *screen_fault(void) {
    const char *last = fault;
    fault = NULL;
    return last;
}
