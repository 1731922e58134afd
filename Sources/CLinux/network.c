// TCP: numeric addresses, listening sockets, and who is connected.
#define _GNU_SOURCE
#include "clinux_network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(CLINUX_ADDRESS_TEXT == INET6_ADDRSTRLEN, "the longest address");

enum { IPV4_BYTES = 4, IPV6_BYTES = 16, MAPPED = 12 };

static int plain(uint8_t *bytes) {
    static const uint8_t mapped[MAPPED] = {[10] = 0xff, [11] = 0xff};
    if (memcmp(bytes, mapped, MAPPED) != 0) return IPV6_BYTES;
    memmove(bytes, bytes + MAPPED, IPV4_BYTES);
    return IPV4_BYTES;
}

int clinux_read_address(const char *text, uint8_t bytes[CLINUX_ADDRESS_BYTES]) {
    if (inet_pton(AF_INET, text, bytes) == 1) return IPV4_BYTES;
    return inet_pton(AF_INET6, text, bytes) == 1 ? plain(bytes) : -EINVAL;
}

int clinux_write_address(const uint8_t *bytes, size_t count, char text[CLINUX_ADDRESS_TEXT]) {
    int family = count == IPV4_BYTES ? AF_INET : AF_INET6;
    return inet_ntop(family, bytes, text, CLINUX_ADDRESS_TEXT) == NULL ? -errno : 0;
}

static socklen_t compose(const uint8_t *bytes, size_t count, uint16_t port, struct sockaddr_storage *address) {
    memset(address, 0, sizeof *address);
    if (count == IPV4_BYTES) {
        struct sockaddr_in *four = (struct sockaddr_in *)address;
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        memcpy(&four->sin_addr, bytes, IPV4_BYTES);
        return sizeof *four;
    }
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    memcpy(&six->sin6_addr, bytes, IPV6_BYTES);
    return sizeof *six;
}

static int begin(int descriptor, const struct sockaddr_storage *address, socklen_t length, int backlog) {
    int on = 1, off = 0;
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) return -errno;
    // At the start of the machine the network may come after the daemon.
    (void)setsockopt(descriptor, IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
    if (address->ss_family == AF_INET6) (void)setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    // Connections inherit these: a client that vanishes, say a phone, leaves nothing open for longer than two minutes.
    int idle_s = 60, every_s = 10, probes = 6, unacknowledged_ms = 120000;
    if (setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) < 0) return -errno;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
    if (bind(descriptor, (const struct sockaddr *)address, length) < 0) return -errno;
    return listen(descriptor, backlog) < 0 ? -errno : 0;
}

int clinux_listen_network(const uint8_t *bytes, size_t count, uint16_t port, int backlog) {
    struct sockaddr_storage address;
    socklen_t length = compose(bytes, count, port, &address);
    int descriptor = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    int result = begin(descriptor, &address, length, backlog);
    if (result == 0) return descriptor;
    close(descriptor);
    return result;
}

static int read_end(int failed, const struct sockaddr_storage *address, uint8_t *bytes, uint16_t *port) {
    if (failed < 0) return -errno;
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        memcpy(bytes, &four->sin_addr, IPV4_BYTES);
        *port = ntohs(four->sin_port);
        return IPV4_BYTES;
    }
    if (address->ss_family != AF_INET6) return -EAFNOSUPPORT;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    memcpy(bytes, &six->sin6_addr, IPV6_BYTES);
    *port = ntohs(six->sin6_port);
    return plain(bytes);
}

int clinux_peer_address(int descriptor, uint8_t bytes[CLINUX_ADDRESS_BYTES], uint16_t *port) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    return read_end(getpeername(descriptor, (struct sockaddr *)&address, &length), &address, bytes, port);
}

int clinux_own_address(int descriptor, uint8_t bytes[CLINUX_ADDRESS_BYTES], uint16_t *port) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    return read_end(getsockname(descriptor, (struct sockaddr *)&address, &length), &address, bytes, port);
}
