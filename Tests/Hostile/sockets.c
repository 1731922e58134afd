// Attacks with descriptors that are sent away: TCP sockets whose last close waits for a peer that never reads.
#define _GNU_SOURCE
#include "hostile.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_in loopback(in_port_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A listener whose connections take next to nothing, as nothing ever reads from them; its port in network order.
static int listen_nearby(in_port_t *port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), tiny = 1;
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &tiny, sizeof tiny);
    if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 256) < 0) return -1;
    if (getsockname(listener, (struct sockaddr *)&address, &size) < 0) return -1;
    *port = address.sin_port;
    return listener;
}

int keep_peers(char **words) {
    in_port_t port;
    if (listen_nearby(&port) < 0) return 1;
    alarm((unsigned)number_of(words, 1, 60));
    FILE *file = fopen(words[0], "w");
    if (!file || fprintf(file, "%u\n", port) < 0 || fclose(file)) return 1;
    hold();
}

void stuff(int sender) {
    static char bytes[1 << 16];
    int flags = fcntl(sender, F_GETFL);
    fcntl(sender, F_SETFL, flags | O_NONBLOCK);
    for (int round = 0; round < 64; round++)
        if (write(sender, bytes, sizeof bytes) < 0) break;
    fcntl(sender, F_SETFL, flags);
}

void set_linger(int sender, int seconds) {
    struct linger linger = {.l_onoff = 1, .l_linger = seconds};
    setsockopt(sender, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

/// The listener of this process, or that of the process whose port stands in the file.
static in_port_t peer_port(const char *path) {
    static in_port_t own;
    unsigned port = 0;
    FILE *file = path ? fopen(path, "r") : NULL;
    if (file && fscanf(file, "%u", &port) == 1) own = (in_port_t)port;
    if (file) fclose(file);
    if (!own) listen_nearby(&own);
    return own;
}

int lingering_socket(char **words) {
    struct sockaddr_in address = loopback(peer_port(words[0] && words[1] ? words[2] : NULL));
    int sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(sender, (struct sockaddr *)&address, sizeof address) < 0) {
        fprintf(stderr, "attacker: no connection: %s\n", strerror(errno));
        exit(3);
    }
    set_linger(sender, (int)number_of(words, 0, 20));
    stuff(sender);
    return sender;
}

static void close_at_once(int sender) {
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(sender, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(sender);
}

/// False where it may not be sent.
static int pass(int channel, const char *text, int sender) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.header = {
                     .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.header), &sender, sizeof sender);
    struct iovec piece = {.iov_base = (void *)text, .iov_len = strlen(text)};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    return sendmsg(channel, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

enum { BEGUN, LET_GO, SENT, REFUSED };

/// The text alone comes first and keeps the daemon busy until our own reference is closed: else the last close is ours.
_Noreturn static void pass_in_child(int channel, const char *text, int sender, atomic_int *progress) {
    while (atomic_load(progress) != LET_GO) sched_yield();
    (void)!send(channel, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
    int is_sent = pass(channel, text, sender);
    if (is_sent) close(sender);
    else close_at_once(sender);
    atomic_store(progress, is_sent ? SENT : REFUSED);
    _exit(0);
}

/// Where it may not be sent the socket is closed without a wait. A child does it, which alone waits where the daemon was faster.
int give_away(int channel, const char *text, int sender) {
    static atomic_int *progress;
    if (!progress)
        progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGCHLD, SIG_IGN);
    atomic_store(progress, BEGUN);
    if (fork() == 0) pass_in_child(channel, text, sender, progress);
    close(sender);
    atomic_store(progress, LET_GO);
    for (double end = now() + 0.1; atomic_load(progress) == LET_GO && now() < end;) usleep(200);
    return atomic_load(progress) == SENT;
}

static int notice_socket(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    int notices = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    strncpy(address.sun_path, path ? path : "", sizeof address.sun_path - 1);
    if (connect(notices, (struct sockaddr *)&address, sizeof address) < 0) {
        fprintf(stderr, "attacker: no notification socket: %s\n", strerror(errno));
        exit(3);
    }
    return notices;
}

static int is_due(const struct turn *turn) {
    return turn->number % 4 == 0 && turn->number / 4 < (unsigned)number_of(turn->words, 1, 1);
}

void linger_on_replies(const struct turn *turn) {
    if (is_due(turn)) give_away(3, "{\"checkpoint\":\"x\"}\n", lingering_socket(turn->words));
}

void linger_on_notices(const struct turn *turn) {
    static int notices = -1;
    if (notices < 0) notices = notice_socket();
    if (is_due(turn)) give_away(notices, turn->number % 8 ? "STATUS=busy" : "READY=1", lingering_socket(turn->words));
}

/// All at once, in each of three lives; the process is gone before much of it can be read.
void linger_and_exit(const struct turn *turn) {
    int senders[4], count = (int)number_of(turn->words, 1, 1), sent = 0;
    if (turn->number % 20 || turn->number >= 60) return;
    for (int index = 0; index < count && index < 4; index++) senders[index] = lingering_socket(turn->words);
    int notices = notice_socket();
    for (int index = 0; index < count && index < 4; index++)
        sent += give_away(notices, "STATUS=going", senders[index]);
    fprintf(stderr, "attacker: sent %d of %d\n", sent, count);
    leave_after_answer();
}

/// Words: for how many seconds.
void flood_notices(const struct turn *turn) {
    static char text[4096] = "STATUS=";
    if (turn->number) return;
    memset(text + 7, 'x', sizeof text - 8);
    int notices = notice_socket();
    for (double end = now() + (double)number_of(turn->words, 0, 3); now() < end;)
        if (send(notices, text, sizeof text - 1, MSG_NOSIGNAL) < 0 && errno != EINTR) break;
    close(notices);
}
