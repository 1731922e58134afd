// The screen between a broker and Paho, which takes packets of any length and kind into memory. A message that is too
// long reaches it cut; its rest is read and dropped. A packet that no broker sends to this client ends the connection.
// Paho reads the bytes of a packet's fixed header one by one, and its body after that; both come from here.
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
/// Of all that a broker answers the longest is an acknowledgement of one subscription.
enum { LONGEST_ANSWER = 16 };
/// A record of TLS is never longer, so that OpenSSL holds nothing back after such a read.
enum { DROPPED_AT_ONCE = 1 << 14, DROPPED_BETWEEN_ANSWERS = 1 << 16 };

enum stage {
    /// A fixed header is on its way; Paho has nothing of it.
    STAGE_HEAD,
    /// Paho reads the fixed header that is here.
    STAGE_HEAD_GIVEN,
    STAGE_BODY,
};

/// A connection, as far as Paho has read it.
struct stream {
    struct stream *next;
    int socket;
    enum stage stage;
    /// The fixed header: a byte for the packet's kind, and one to four for its length.
    uint8_t head[5];
    /// How many bytes of it are here, and how many Paho has.
    size_t head_count, head_given;
    /// Bytes of the body that Paho has still to read, and bytes after them that it does not get.
    size_t body, surplus;
    /// How much of the surplus was read since Paho had something last.
    size_t dropped;
};

/// Where a stream comes from: the socket itself, or TLS over it.
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

/// Reads on what Paho does not get. Paho waits for the answer to its ping all the while, so it gets one now and then: a
/// broker that sends is there.
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

/// Why the packet ends the connection; null where Paho gets it, or its beginning.
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

/// As recv(): zero where the connection is to end.
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

// MARK: In the place of what Paho calls

static ssize_t screened_recv(int socket, void *bytes, size_t count, int flags) {
    (void) flags;
    return screened_read(&(struct origin){.socket = socket}, bytes, count);
}

static int screened_tls_read(void *tls, void *bytes, int count) {
    if (count <= 0) return 0;
    return (int) screened_read(&(struct origin){.socket = tls_socket(tls), .tls = tls}, bytes, (size_t) count);
}

/// The next connection may get the same number.
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
