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

int wake_bluetooth_socket(void) {
    int made = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    return made < 0 ? -errno : made;
}

static int bind_to(int descriptor, unsigned short channel) {
    struct sockaddr_hci address;
    memset(&address, 0, sizeof address);
    address.hci_family = AF_BLUETOOTH;
    address.hci_dev = HCI_DEV_NONE;
    address.hci_channel = channel;
    return bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

int wake_monitor_bind(int descriptor) { return bind_to(descriptor, HCI_CHANNEL_MONITOR); }

int wake_management_bind(int descriptor) { return bind_to(descriptor, HCI_CHANNEL_CONTROL); }

// Opcodes of the monitor, little-endian, so 0x0300 to a filter is opcode 3, an HCI event, 0x0200 is 2, an HCI command,
// and 0x1100 is 17, an event of the management channel. The HCI packet begins after the six bytes of the header; the
// management event's code after ten.
int wake_monitor_keep_links(int descriptor) {
    enum { EVENT = 7, SUBEVENT = 14, FAILURE = 18, STATUS = 20, MANAGEMENT = 23, COMMAND = 25, ENABLE = 28, DROP = 30,
           KEEP = 31 };
#define TO(place, here) ((place) - (here) - 1)
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0300, TO(EVENT, 1), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0200, TO(COMMAND, 2), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1100, TO(MANAGEMENT, 3), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0000, TO(KEEP, 4), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0100, TO(KEEP, 5), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0a00, TO(KEEP, 6), TO(DROP, 6)),
        // EVENT: its code.
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_DISCONN_COMPLETE, TO(KEEP, 8), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_LE_META_EVENT, TO(SUBEVENT, 9), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_ENCRYPT_CHANGE, TO(FAILURE, 10), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x59, TO(FAILURE, 11), 0), // Encryption Change v2
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_ENCRYPTION_KEY_REFRESH_COMPLETE, TO(FAILURE, 12), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_CMD_STATUS, TO(STATUS, 13), TO(DROP, 13)),
        // SUBEVENT of LE: the three Connection Completes.
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x01, TO(KEEP, 15), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0a, TO(KEEP, 16), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x29, TO(KEEP, 17), TO(DROP, 17)),
        // FAILURE: any status but success.
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x00, TO(DROP, 19), TO(KEEP, 19)),
        // STATUS of a command: no room for another link.
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HCI_MAX_NUMBER_OF_CONNECTIONS, TO(KEEP, 21), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HCI_REJECTED_LIMITED_RESOURCES, TO(KEEP, 22), TO(DROP, 22)),
        // MANAGEMENT: Device Connected.
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 10),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0b00, TO(KEEP, 24), TO(DROP, 24)),
        // COMMAND: LE Set Scan Enable and its extended form.
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0c20, TO(ENABLE, 26), 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x4220, TO(ENABLE, 27), TO(DROP, 27)),
        // ENABLE: on, not off.
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x01, TO(KEEP, 29), TO(DROP, 29)),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0x40000),
    };
#undef TO
    struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
    int code = setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
    return code < 0 ? -errno : 0;
}

// The event's code is the byte 6, its kind 8, the number of its reports 9; the address of the first begins at 12, or at 13 in an
// extended report. An address is compared in two steps, its first four bytes and its last two.
int wake_monitor_keep_reports(int descriptor, const uint8_t *addresses, size_t count) {
    enum { HEAD = 15, EACH = 5 };
    if (count > WAKE_MOST_REPORTED) count = 0;
    struct sock_filter program[HEAD + EACH * WAKE_MOST_REPORTED + 1] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0300, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_LE_META_EVENT, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 12),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVT_LE_ADVERTISING_REPORT, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0d, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 13),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, count > 0, 0),
        BPF_STMT(BPF_RET | BPF_K, 0x40000),
    };
    size_t length = HEAD;
    for (size_t index = 0; index < count; index++, addresses += 6) {
        uint32_t first = (uint32_t)addresses[0] << 24 | addresses[1] << 16 | addresses[2] << 8 | addresses[3];
        uint32_t last = (uint32_t)addresses[4] << 8 | addresses[5];
        struct sock_filter one[EACH] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 0, 3),
            BPF_STMT(BPF_LD | BPF_H | BPF_IND, 4),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, last, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, 0x40000),
        };
        memcpy(program + length, one, sizeof one);
        length += EACH;
    }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog filter = {.len = (unsigned short)length, .filter = program};
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
