// Sockets that are held for handlers.
#define _GNU_SOURCE
#include "clinux_sockets.h"
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

enum { TCP_STATE_LISTEN = 10, QUEUED_BYTES = 0, MEMORY_WORDS = 16 };

// The length of the address; 0 where it is of another family.
static uint8_t keep(const struct sockaddr *address, uint8_t *bytes) {
    if (address->sa_family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)address)->sin_addr, 4);
        return 4;
    }
    if (address->sa_family != AF_INET6) return 0;
    memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    return 16;
}

int clinux_resolve(const char *name, bool datagrams, uint8_t *lengths, uint8_t *addresses, size_t capacity) {
    struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = datagrams ? SOCK_DGRAM : SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(name, NULL, &wanted, &found) != 0) return -ENOENT;
    size_t count = 0;
    for (struct addrinfo *one = found; one != NULL && count < capacity; one = one->ai_next) {
        lengths[count] = keep(one->ai_addr, addresses + count * CLINUX_ADDRESS_BYTES);
        if (lengths[count] > 0) count++;
    }
    freeaddrinfo(found);
    return count == 0 ? -ENOENT : (int)count;
}

static socklen_t compose(const uint8_t *bytes, size_t count, uint16_t port, struct sockaddr_storage *address) {
    memset(address, 0, sizeof *address);
    if (count == 4) {
        struct sockaddr_in *four = (struct sockaddr_in *)address;
        *four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&four->sin_addr, bytes, 4);
        return sizeof *four;
    }
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    *six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&six->sin6_addr, bytes, 16);
    return sizeof *six;
}

static int make(int family, bool datagrams) {
    int type = (datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
    int descriptor = socket(family, type, 0);
    return descriptor < 0 ? -errno : descriptor;
}

static int refuse(int descriptor) {
    int error = errno;
    close(descriptor);
    return -error;
}

int clinux_connect_network(const uint8_t *bytes, size_t count, uint16_t port, bool datagrams) {
    struct sockaddr_storage address;
    socklen_t length = compose(bytes, count, port, &address);
    int descriptor = make(address.ss_family, datagrams), on = 1;
    if (descriptor < 0) return descriptor;
    // Without it no probe is ever sent.
    if (!datagrams) (void)setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (connect(descriptor, (struct sockaddr *)&address, length) == 0 || errno == EINPROGRESS) return descriptor;
    return refuse(descriptor);
}

int clinux_connect_outcome(int descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
    return -error;
}

int clinux_bind_network(const uint8_t *bytes, size_t count, uint16_t port) {
    struct sockaddr_storage address;
    socklen_t length = compose(bytes, count, port, &address);
    int descriptor = make(address.ss_family, true), on = 1;
    if (descriptor < 0) return descriptor;
    // At the start of the machine the network may come after the daemon.
    (void)setsockopt(descriptor, IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
    if (bind(descriptor, (struct sockaddr *)&address, length) == 0) return descriptor;
    return refuse(descriptor);
}

static int option(int descriptor, int name) {
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) < 0 ? 0 : value;
}

// The state of a TCP socket, as far as this kernel tells of it.
static bool tcp_state(int descriptor, struct tcp_info *info) {
    socklen_t length = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &length) == 0;
}

static void look_at_listener(int descriptor, bool is_readable, struct clinux_socket_look *look) {
    struct tcp_info info;
    // Of one that listens the kernel counts in this field what waits to be accepted.
    bool is_counted = tcp_state(descriptor, &info) && info.tcpi_state == TCP_STATE_LISTEN;
    look->unread = look->volume = is_counted ? info.tcpi_unacked : is_readable;
}

static void look_at_datagrams(int descriptor, bool is_readable, struct clinux_socket_look *look) {
    uint32_t memory[MEMORY_WORDS] = {0};
    socklen_t length = sizeof memory;
    bool is_known = getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, memory, &length) == 0;
    // An empty datagram is one too.
    if (is_readable && look->unread == 0) look->unread = 1;
    if (!is_readable) look->unread = 0;
    look->volume = is_readable && is_known ? memory[QUEUED_BYTES] : look->unread;
}

int clinux_look_at_socket(int descriptor, struct clinux_socket_look *look) {
    struct pollfd state = {.fd = descriptor, .events = POLLIN | POLLRDHUP};
    int unread = 0;
    *look = (struct clinux_socket_look){.received = -1};
    if (poll(&state, 1, 0) < 0) return -errno;
    bool is_readable = state.revents & POLLIN;
    if (option(descriptor, SO_ACCEPTCONN)) {
        look_at_listener(descriptor, is_readable, look);
        return 0;
    }
    if (ioctl(descriptor, SIOCINQ, &unread) < 0) unread = 0;
    look->unread = look->volume = unread;
    if (option(descriptor, SO_TYPE) == SOCK_DGRAM) {
        look_at_datagrams(descriptor, is_readable, look);
        return 0;
    }
    struct tcp_info info;
    if (tcp_state(descriptor, &info)) look->received = (int64_t)info.tcpi_bytes_received;
    look->failed = state.revents & POLLERR;
    look->ended = state.revents & (POLLRDHUP | POLLHUP | POLLERR);
    return 0;
}

int clinux_latest_datagram(int descriptor, int64_t *nanoseconds) {
    struct timespec arrival;
    if (ioctl(descriptor, SIOCGSTAMPNS, &arrival) < 0) {
        if (errno != ENOENT) return -errno;
        // None was read yet.
        arrival = (struct timespec){0};
    }
    *nanoseconds = (int64_t)arrival.tv_sec * 1000000000 + arrival.tv_nsec;
    return 0;
}

int clinux_forget_linger(int descriptor) {
    struct linger off = {0};
    return setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &off, sizeof off) < 0 ? -errno : 0;
}

static int set(int descriptor, int name, int value) {
    return setsockopt(descriptor, IPPROTO_TCP, name, &value, sizeof value) < 0 ? -errno : 0;
}

int clinux_probe_peer(int descriptor, bool isProbed) {
    int unheard = 0;
    if (!isProbed || ioctl(descriptor, SIOCOUTQ, &unheard) < 0) unheard = 0;
    int failure = set(descriptor, TCP_KEEPINTVL, isProbed ? 2 : 75);
    if (failure == 0) failure = set(descriptor, TCP_KEEPCNT, isProbed ? 4 : 9);
    // What was sent and not acknowledged holds the probes back, so its patience ends as soon. Where there is none of that, this
    // timeout would count from the peer's last word, and let one probe decide.
    if (failure == 0) failure = set(descriptor, TCP_USER_TIMEOUT, unheard > 0 ? 10000 : 0);
    return failure < 0 ? failure : set(descriptor, TCP_KEEPIDLE, isProbed ? 1 : 7200);
}

int clinux_way_to(const uint8_t *bytes, size_t count, uint8_t own[CLINUX_ADDRESS_BYTES]) {
    // A datagram socket that is connected sends nothing; the kernel only finds the way.
    int descriptor = clinux_connect_network(bytes, count, 9, true);
    if (descriptor < 0) return descriptor;
    uint16_t port;
    int length = clinux_own_address(descriptor, own, &port);
    close(descriptor);
    return length;
}

int clinux_one_way_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -errno;
    // The other end cannot undo it, and its writes fail from the first on.
    if (shutdown(ends[0], SHUT_RD) == 0) return 0;
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return -error;
}

int clinux_pass_descriptor(int socket, const void *text, size_t length, int passed) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec piece = {.iov_base = (void *)text, .iov_len = length};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof passed);
    memcpy(CMSG_DATA(header), &passed, sizeof passed);
    ssize_t sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return -errno;
    return (size_t)sent == length ? 0 : -EMSGSIZE;
}
