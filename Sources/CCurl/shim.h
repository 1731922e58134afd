// libcurl as Swift may call it: its variadic calls with the options this tool uses, and the interruption by Ctrl-C as a
// descriptor that a transfer can wait for. Everything is static inline; nothing here keeps state.
#pragma once
#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

/// Prepares one request over a Unix socket. All strings are copied but `body`, `error` (CURL_ERROR_SIZE bytes) and
/// `headers`, which must outlive the transfer. A null `body` sends none. No time limit where `timeout_ms` is 0.
static inline bool wake_curl_prepare(CURL *easy, const char *socket_path, const char *url, const char *method,
                                     const void *body, long body_bytes, long timeout_ms, struct curl_slist *headers,
                                     char *error, curl_write_callback sink, void *owner) {
    CURLcode code = CURLE_OK;
#define WAKE_SET(option, value) if (code == CURLE_OK) code = curl_easy_setopt(easy, option, value)
    WAKE_SET(CURLOPT_ERRORBUFFER, error);
    WAKE_SET(CURLOPT_UNIX_SOCKET_PATH, socket_path);
    WAKE_SET(CURLOPT_URL, url);
    WAKE_SET(CURLOPT_PROXY, "");
    WAKE_SET(CURLOPT_NOSIGNAL, 1L);
    WAKE_SET(CURLOPT_TIMEOUT_MS, timeout_ms);
    WAKE_SET(CURLOPT_HTTPHEADER, headers);
    WAKE_SET(CURLOPT_WRITEFUNCTION, sink);
    WAKE_SET(CURLOPT_WRITEDATA, owner);
    if (body != NULL) {
        WAKE_SET(CURLOPT_POSTFIELDSIZE, body_bytes);
        WAKE_SET(CURLOPT_POSTFIELDS, body);
    }
    WAKE_SET(CURLOPT_CUSTOMREQUEST, method);
#undef WAKE_SET
    return code == CURLE_OK;
}

/// The HTTP status that has arrived; 0 before it has.
static inline long wake_curl_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/// The errno of a failed connect; 0 where none failed.
static inline long wake_curl_errno(CURL *easy) {
    long number = 0;
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    return number;
}

enum wake_curl_turn { WAKE_CURL_GOES_ON, WAKE_CURL_DONE, WAKE_CURL_FAILED, WAKE_CURL_INTERRUPTED };

/// Moves the transfer on and waits, at most `wait_ms`, for what comes next: bytes, its end, or a signal on `interrupt`
/// (-1 for none).
static inline enum wake_curl_turn wake_curl_turn(CURLM *multi, int interrupt, int wait_ms) {
    int running = 0;
    if (curl_multi_perform(multi, &running) != CURLM_OK) return WAKE_CURL_FAILED;
    if (running == 0) {
        int left = 0;
        CURLMsg *message = curl_multi_info_read(multi, &left);
        return message != NULL && message->data.result == CURLE_OK ? WAKE_CURL_DONE : WAKE_CURL_FAILED;
    }
    struct curl_waitfd extra = {.fd = interrupt, .events = CURL_WAIT_POLLIN, .revents = 0};
    if (curl_multi_poll(multi, &extra, interrupt < 0 ? 0 : 1, wait_ms, NULL) != CURLM_OK) return WAKE_CURL_FAILED;
    return extra.revents != 0 ? WAKE_CURL_INTERRUPTED : WAKE_CURL_GOES_ON;
}

/// Keeps SIGINT, SIGTERM and SIGHUP from ending the process and makes them readable; -1 where that fails.
static inline int wake_interrupt_descriptor(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0) return -1;
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// What became of a text that was sent: the HTTP status, or why none arrived.
struct wake_curl_outcome {
    long status;
    const char *failure;
};

static inline size_t wake_curl_ignore(char *bytes, size_t size, size_t count, void *owner) {
    (void)bytes, (void)owner;
    return size * count;
}

/// Posts a text to an address of HTTP or HTTPS with two headers, and waits for the answer, whose body is of no interest.
static inline struct wake_curl_outcome wake_curl_post(const char *url, const char *first_header, const char *second_header,
                                                      const char *text, long bytes, long timeout_ms) {
    struct wake_curl_outcome outcome = {.status = 0, .failure = "libcurl will not start"};
    CURL *easy = curl_easy_init();
    if (easy == NULL) return outcome;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: text/plain; charset=utf-8");
    headers = curl_slist_append(headers, first_header);
    headers = curl_slist_append(headers, second_header);
    headers = curl_slist_append(headers, "Expect:");
    CURLcode code = CURLE_OK;
#define WAKE_SET(option, value) if (code == CURLE_OK) code = curl_easy_setopt(easy, option, value)
    WAKE_SET(CURLOPT_URL, url);
    WAKE_SET(CURLOPT_PROTOCOLS_STR, "http,https");
    WAKE_SET(CURLOPT_USERAGENT, "wakebridge");
    WAKE_SET(CURLOPT_NOSIGNAL, 1L);
    WAKE_SET(CURLOPT_TIMEOUT_MS, timeout_ms);
    WAKE_SET(CURLOPT_HTTPHEADER, headers);
    WAKE_SET(CURLOPT_WRITEFUNCTION, wake_curl_ignore);
    WAKE_SET(CURLOPT_POSTFIELDSIZE, bytes);
    WAKE_SET(CURLOPT_POSTFIELDS, text);
#undef WAKE_SET
    if (code == CURLE_OK) code = curl_easy_perform(easy);
    outcome.failure = code == CURLE_OK ? NULL : curl_easy_strerror(code);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &outcome.status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    return outcome;
}
