// The calls behind CBluetooth.h. Headers only: nothing of libbluetooth is linked.
#include "CBluetooth.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

int wake_monitor_socket(void) {
    int made = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    return made < 0 ? -errno : made;
}

int wake_monitor_bind(int descriptor) {
    struct sockaddr_hci address;
    memset(&address, 0, sizeof address);
    address.hci_family = AF_BLUETOOTH;
    address.hci_dev = HCI_DEV_NONE;
    address.hci_channel = HCI_CHANNEL_MONITOR;
    return bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

// New Index, Delete Index, Index Information; then the monitor's opcode 3, an HCI event: little-endian, so 0x0300 to a filter.
// The HCI packet begins after the six bytes of the header.
int wake_monitor_keep_links(int descriptor) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0300, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0000, 10, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0100, 9, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0a00, 8, 7),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_DISCONN_COMPLETE, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_LE_META_EVENT, 0, 4),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x01, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0a, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x29, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0x40000),
    };
    struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
    int code = setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
    return code < 0 ? -errno : 0;
}

void wake_monitor_prepare(int descriptor, int buffer_bytes) {
    int on = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
}

int wake_monitor_receive(int descriptor, void *bytes, size_t size, int64_t *microseconds) {
    struct iovec place = {.iov_base = bytes, .iov_len = size};
    union {
        char bytes[CMSG_SPACE(sizeof(struct timeval))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    ssize_t count = recvmsg(descriptor, &message, MSG_DONTWAIT);
    if (count < 0) return -errno;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMP) continue;
        struct timeval time;
        memcpy(&time, CMSG_DATA(part), sizeof time);
        *microseconds = (int64_t)time.tv_sec * 1000000 + time.tv_usec;
    }
    return (int)count;
}
