// Sock_diag: lists of the sockets that listen, and of Unix sockets that are connected.
#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

int clinux_socket_diag(void) {
    int made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    return made < 0 ? -errno : made;
}

int clinux_socket_diag_request(int socket, enum clinux_socket_diag_list list) {
    struct {
        struct nlmsghdr head;
        union {
            struct inet_diag_req_v2 inet;
            struct unix_diag_req local;
        };
    } request = {0};
    bool is_local = list == CLINUX_UNIX_SOCKETS;
    request.head.nlmsg_len = NLMSG_LENGTH(is_local ? sizeof request.local : sizeof request.inet);
    request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (is_local) {
        request.local.sdiag_family = AF_UNIX;
        request.local.udiag_states = 1 << TCP_LISTEN | 1 << TCP_ESTABLISHED;
        request.local.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER;
    } else {
        request.inet.sdiag_family = list == CLINUX_TCP_LISTENERS ? AF_INET : AF_INET6;
        request.inet.sdiag_protocol = IPPROTO_TCP;
        request.inet.idiag_states = 1 << TCP_LISTEN;
    }
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    if (sendto(socket, &request, request.head.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel) >= 0) return 0;
    return -errno;
}
