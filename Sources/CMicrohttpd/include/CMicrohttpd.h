// GNU libmicrohttpd for Swift: its variadic calls with the options that this project uses, its macros as functions, and
// the client of a Unix socket.
// Only its header is compiled in: loading the library with TLS and eight more takes much of a start, so loading.c does it later.
// Nothing below may be called before wake_http_load() has returned null.
#pragma once
#include <errno.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

// Requests that fit in one TCP segment's worth of headers are all that a control client sends; what does not fit
// in this pool is answered 414 or 431 by the library itself.
#define WAKE_HTTP_POOL_BYTES ((size_t) 16384)
// The timeout after which a client that is silent in the middle of a request or answer is disconnected. Idle streams are
// suspended connections, which have no timeout.
#define WAKE_HTTP_SILENCE_SECONDS 30u

// The option that has malformed requests refused got a new name after 0.9.75, and the old one warns since.
#if MHD_VERSION >= 0x00097701
#define WAKE_HTTP_STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL
#else
#define WAKE_HTTP_STRICTNESS MHD_OPTION_STRICT_FOR_CLIENT
#endif

// The functions of the library that are used, by name.
#define WAKE_HTTP_CALLS(EACH) \
    EACH(MHD_start_daemon) EACH(MHD_run) EACH(MHD_add_connection) EACH(MHD_stop_daemon) EACH(MHD_get_daemon_info) \
    EACH(MHD_get_connection_info) EACH(MHD_get_timeout) EACH(MHD_add_response_header) EACH(MHD_queue_response) \
    EACH(MHD_destroy_response) EACH(MHD_create_response_from_buffer) EACH(MHD_create_response_from_callback) \
    EACH(MHD_get_connection_values) EACH(MHD_suspend_connection) \
    EACH(MHD_resume_connection) EACH(MHD_http_unescape)

#define WAKE_HTTP_POINTER(name) __typeof__(name) *name;
struct wake_http_calls { WAKE_HTTP_CALLS(WAKE_HTTP_POINTER) };
#undef WAKE_HTTP_POINTER
extern struct wake_http_calls wake_http_calls;

/// Loads the library, once. Null, or why it cannot be loaded, in a text that is valid until the next call.
const char *wake_http_load(void);

/// Decodes a path, or a name or value of a query. Text with a zero byte stays encoded: decoded, it would end at that
/// byte.
static inline size_t wake_http_unescape(void *owner, struct MHD_Connection *connection, char *text) {
    (void) owner, (void) connection;
    return strstr(text, "%00") != NULL ? strlen(text) : wake_http_calls.MHD_http_unescape(text);
}

struct wake_http_settings {
    unsigned int connections;
    /// Both as PEM, or both null for no TLS.
    const char *certificate;
    const char *key;
};

/// Starts a server for the connections that wake_http_accept adds; its epoll descriptor drives it from outside. Null
/// where it cannot start.
static inline struct MHD_Daemon *
wake_http_start(const struct wake_http_settings *settings, void *owner, MHD_AccessHandlerCallback request,
                MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection) {
    bool is_secure = settings->key != NULL;
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *) settings->key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *) settings->certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    return wake_http_calls.MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | (is_secure ? MHD_USE_TLS : 0), 0,
        NULL, NULL, request, owner,
        MHD_OPTION_NOTIFY_COMPLETED, completed, owner,
        MHD_OPTION_NOTIFY_CONNECTION, connection, owner,
        MHD_OPTION_CONNECTION_LIMIT, settings->connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, WAKE_HTTP_POOL_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, WAKE_HTTP_SILENCE_SECONDS,
        WAKE_HTTP_STRICTNESS, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, wake_http_unescape, NULL,
        MHD_OPTION_ARRAY, is_secure ? secure : plain,
        MHD_OPTION_END);
}

/// Accepts the next connection of a listening socket and adds it to the server, which reports its start at once.
/// Returns 0 or -errno; -EAGAIN where no client waits.
int wake_http_accept(struct MHD_Daemon *daemon, int listening);

static inline void wake_http_run(struct MHD_Daemon *daemon) { wake_http_calls.MHD_run(daemon); }

static inline void wake_http_stop(struct MHD_Daemon *daemon) { wake_http_calls.MHD_stop_daemon(daemon); }

static inline void wake_http_suspend(struct MHD_Connection *connection) {
    wake_http_calls.MHD_suspend_connection(connection);
}
static inline void wake_http_resume(struct MHD_Connection *connection) {
    wake_http_calls.MHD_resume_connection(connection);
}

/// The descriptor that turns readable when the server has something to do; -1 where the library has no epoll.
static inline int wake_http_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = wake_http_calls.MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->listen_fd;
}

/// The socket of one connection, which the library owns; -1 where it has closed.
static inline int wake_http_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        wake_http_calls.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/// Milliseconds until the server must be run even if its descriptor stays silent; -1 for never.
static inline int64_t wake_http_timeout_ms(struct MHD_Daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG left = 0;
    if (wake_http_calls.MHD_get_timeout(daemon, &left) != MHD_YES) return -1;
    return left > 3600000 ? 3600000 : (int64_t) left;
}

/// An answer with a copy of `bytes`; null where there is no memory.
static inline struct MHD_Response *wake_http_answer(const void *bytes, size_t count) {
    return wake_http_calls.MHD_create_response_from_buffer(count, (void *) bytes, MHD_RESPMEM_MUST_COPY);
}

/// An answer with what `reader` gives until it ends. `release` is called with `source` exactly once, also on failure.
static inline struct MHD_Response *wake_http_stream(void *source, MHD_ContentReaderCallback reader,
                                                    MHD_ContentReaderFreeCallback release) {
    struct MHD_Response *response =
        wake_http_calls.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, reader, source, release);
    if (response == NULL) release(source);
    return response;
}

/// Adds a header to an answer that is not sent yet.
static inline void wake_http_add_header(struct MHD_Response *response, const char *name, const char *value) {
    wake_http_calls.MHD_add_response_header(response, name, value);
}

/// Sends an answer, and releases it.
static inline bool wake_http_send(struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response) {
    bool queued = wake_http_calls.MHD_queue_response(connection, status, response) == MHD_YES;
    wake_http_calls.MHD_destroy_response(response);
    return queued;
}

// The library's enumerations import under names that differ between its releases; these do not.
static inline enum MHD_Result wake_http_verdict(bool goes_on) { return goes_on ? MHD_YES : MHD_NO; }
static inline bool wake_http_has_started(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}
/// Calls `each` for every header of the request, or for every parameter of its query.
static inline void wake_http_each_value(struct MHD_Connection *connection, bool of_headers, MHD_KeyValueIterator each,
                                        void *sink) {
    enum MHD_ValueKind kind = of_headers ? MHD_HEADER_KIND : MHD_GET_ARGUMENT_KIND;
    wake_http_calls.MHD_get_connection_values(connection, kind, each, sink);
}
static inline ssize_t wake_http_end_of_stream(void) { return MHD_CONTENT_READER_END_OF_STREAM; }

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
#define WAKE_PEER_GROUPS_LIMIT 1024

/// The supplementary groups of a Unix socket's client at the time it connected, from the kernel: the group database may be on a
/// network and must not block the loop. Returns their number, or -errno.
/// `groups` has room for WAKE_PEER_GROUPS_LIMIT.
static inline int wake_peer_groups(int descriptor, gid_t *groups) {
    socklen_t size = WAKE_PEER_GROUPS_LIMIT * sizeof(gid_t);
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) return -errno;
    return (int) (size / sizeof(gid_t));
}
