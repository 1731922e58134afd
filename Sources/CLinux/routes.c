// Rtnetlink: a socket that tells of changes, and one that lists links and routes.
#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

// The kernel says nothing of IPv4 routes that go with their last address, so addresses are listened to as well.
static const unsigned groups = RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_IFADDR;

static int open_route_socket(unsigned listened) {
    int made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (made < 0) return -errno;
    struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = listened};
    if (bind(made, (struct sockaddr *)&own, sizeof own) == 0) return made;
    int error = errno;
    close(made);
    return -error;
}

int clinux_route_events(void) { return open_route_socket(groups); }
int clinux_route_socket(void) { return open_route_socket(0); }

int clinux_route_events_discard(int events) {
    char byte;
    for (;;) {
        if (recv(events, &byte, sizeof byte, MSG_DONTWAIT) >= 0) continue;
        if (errno == EAGAIN) return 0;
        // ENOBUFS: some were lost, and later ones wait behind it.
        if (errno != EINTR && errno != ENOBUFS) return -errno;
    }
}

int clinux_route_request(int socket, enum clinux_route_list list) {
    struct {
        struct nlmsghdr head;
        union {
            struct ifinfomsg link;
            struct rtmsg route;
        };
    } request = {0};
    bool is_link = list == CLINUX_LINKS;
    request.head.nlmsg_len = NLMSG_LENGTH(is_link ? sizeof request.link : sizeof request.route);
    request.head.nlmsg_type = is_link ? RTM_GETLINK : RTM_GETROUTE;
    request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    if (sendto(socket, &request, request.head.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel) >= 0) return 0;
    return -errno;
}
