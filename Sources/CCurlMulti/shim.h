// libcurl's multi interface as Swift may call it, for transfers that a loop of ours moves. Nothing here keeps state.
#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

static inline bool wake_multi_prepare(CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer,
                                      void *owner) {
    CURLMcode code = CURLM_OK;
#define WAKE_SET(option, value) if (code == CURLM_OK) code = curl_multi_setopt(multi, option, value)
    WAKE_SET(CURLMOPT_SOCKETFUNCTION, socket);
    WAKE_SET(CURLMOPT_SOCKETDATA, owner);
    WAKE_SET(CURLMOPT_TIMERFUNCTION, timer);
    WAKE_SET(CURLMOPT_TIMERDATA, owner);
    WAKE_SET(CURLMOPT_MAXCONNECTS, 16L);
#undef WAKE_SET
    return code == CURLM_OK;
}

/// Sets the options that all requests share. libcurl copies the strings except `headers` and `error`, which must
/// outlive the transfer.
static inline bool wake_transfer_prepare(CURL *easy, const char *url, struct curl_slist *headers, char *error,
                                         curl_write_callback head, curl_write_callback body, void *owner) {
    CURLcode code = CURLE_OK;
#define WAKE_SET(option, value) if (code == CURLE_OK) code = curl_easy_setopt(easy, option, value)
    WAKE_SET(CURLOPT_ERRORBUFFER, error);
    WAKE_SET(CURLOPT_URL, url);
    WAKE_SET(CURLOPT_PROTOCOLS_STR, "http,https");
    WAKE_SET(CURLOPT_FOLLOWLOCATION, 0L);
    WAKE_SET(CURLOPT_NOSIGNAL, 1L);
    WAKE_SET(CURLOPT_USERAGENT, "wakebridge");
    WAKE_SET(CURLOPT_HTTPHEADER, headers);
    // The headers of a proxy's answer are not the server's.
    WAKE_SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    WAKE_SET(CURLOPT_HEADERFUNCTION, head);
    WAKE_SET(CURLOPT_HEADERDATA, owner);
    WAKE_SET(CURLOPT_WRITEFUNCTION, body);
    WAKE_SET(CURLOPT_WRITEDATA, owner);
    WAKE_SET(CURLOPT_PRIVATE, owner);
    WAKE_SET(CURLOPT_BUFFERSIZE, 512L << 10);
    WAKE_SET(CURLOPT_CONNECTTIMEOUT, 30L);
    // A slower transfer counts as stalled: the server is asked again, from where it stopped.
    WAKE_SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    WAKE_SET(CURLOPT_LOW_SPEED_TIME, 60L);
#undef WAKE_SET
    return code == CURLE_OK;
}

static inline bool wake_transfer_send(CURL *easy, const char *method, curl_off_t bytes, curl_read_callback source,
                                      curl_seek_callback seek, void *owner) {
    CURLcode code = CURLE_OK;
#define WAKE_SET(option, value) if (code == CURLE_OK) code = curl_easy_setopt(easy, option, value)
    WAKE_SET(CURLOPT_UPLOAD, 1L);
    WAKE_SET(CURLOPT_CUSTOMREQUEST, method);
    WAKE_SET(CURLOPT_INFILESIZE_LARGE, bytes);
    WAKE_SET(CURLOPT_READFUNCTION, source);
    WAKE_SET(CURLOPT_READDATA, owner);
    WAKE_SET(CURLOPT_SEEKFUNCTION, seek);
    WAKE_SET(CURLOPT_SEEKDATA, owner);
    WAKE_SET(CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
#undef WAKE_SET
    return code == CURLE_OK;
}

/// The authorities that are trusted, from a file and a folder of them; null leaves the system's.
static inline bool wake_transfer_trust(CURL *easy, const char *file, const char *folder) {
    CURLcode code = CURLE_OK;
    if (file != NULL) code = curl_easy_setopt(easy, CURLOPT_CAINFO, file);
    if (code == CURLE_OK && folder != NULL) code = curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
    return code == CURLE_OK;
}

static inline bool wake_transfer_authorize(CURL *easy, const char *user, const char *password) {
    CURLcode code = CURLE_OK;
#define WAKE_SET(option, value) if (code == CURLE_OK) code = curl_easy_setopt(easy, option, value)
    WAKE_SET(CURLOPT_USERNAME, user);
    WAKE_SET(CURLOPT_PASSWORD, password);
    WAKE_SET(CURLOPT_HTTPAUTH, CURLAUTH_ANY);
#undef WAKE_SET
    return code == CURLE_OK;
}

/// Gives the request a new connection, to an address that `open` makes a socket for. A connection kept from an earlier
/// request was made without `open`.
static inline bool wake_transfer_screen(CURL *easy, curl_opensocket_callback open, void *owner) {
    CURLcode code = CURLE_OK;
#define WAKE_SET(option, value) if (code == CURLE_OK) code = curl_easy_setopt(easy, option, value)
    WAKE_SET(CURLOPT_FRESH_CONNECT, 1L);
    WAKE_SET(CURLOPT_OPENSOCKETFUNCTION, open);
    WAKE_SET(CURLOPT_OPENSOCKETDATA, owner);
#undef WAKE_SET
    return code == CURLE_OK;
}

/// Uses the proxy for every host, whatever no_proxy in the environment lists.
static inline bool wake_transfer_always_by_proxy(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_NOPROXY, "") == CURLE_OK;
}

/// Copies the bytes of the address and returns their number, 4 or 16; 0 for an address of another family.
static inline int wake_address_bytes(const struct curl_sockaddr *address, unsigned char bytes[16]) {
    const void *all = &address->addr;
    if (address->family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)all)->sin_addr, 4);
        return 4;
    }
    if (address->family != AF_INET6) return 0;
    memcpy(bytes, &((const struct sockaddr_in6 *)all)->sin6_addr, 16);
    return 16;
}

/// The address as libcurl itself would open it.
static inline curl_socket_t wake_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// The address of the server or proxy to which the request was sent; null where there was no connection.
static inline const char *wake_transfer_server(CURL *easy) {
    char *address = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address);
    return address;
}

/// Where the answer sends the request on to, as a whole address; null where it does not.
static inline const char *wake_transfer_target(CURL *easy) {
    char *target = NULL;
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &target);
    return target;
}

static inline curl_off_t wake_transfer_sent(CURL *easy) {
    curl_off_t bytes = 0;
    curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &bytes);
    return bytes;
}

/// The next transfer that is over: its owner, and how it ended; null where none is.
static inline void *wake_multi_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE) continue;
        void *owner = NULL;
        *result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
        if (owner != NULL) return owner;
    }
    return NULL;
}
