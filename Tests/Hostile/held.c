// Attacks with sockets that the bridge holds for the attacker: by what their last close waits for, and by their locks.
#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 // Linux 6.16
#endif

/// Its only socket; -1 where it has none now.
static int held_socket(void) {
    const char *held = getenv("WAKEBRIDGE_SOCKETS");
    const char *number = held ? strchr(held, '=') : NULL;
    return number ? atoi(number + 1) : -1;
}

static void give_up(int line) {
    static const char order[] = "{\"reconnect\":\"line\"}\n";
    if (line >= 0) close(line);
    say(order, sizeof order - 1);
}

/// Asks again and again that the last close waits, also when it was given up: to forget that once is not enough.
static void insist(int line, int seconds) {
    if (fork() != 0) return;
    tie_child(10);
    for (double end = now() + 0.1; now() < end; sched_yield()) set_linger(line, seconds);
    _exit(0);
}

/// Words: for how many seconds the close of its connection waits, and whether it insists on that.
void linger_on_held(const struct turn *turn) {
    int line = held_socket(), seconds = (int)number_of(turn->words, 0, 20);
    if (!turn->is_first || line < 0) return;
    signal(SIGCHLD, SIG_IGN);
    stuff(line);
    set_linger(line, seconds);
    if (number_of(turn->words, 1, 0)) insist(line, seconds);
    give_up(line);
}

/// Its peer, which fill_callers() is, has put into it what lingers.
void give_up_filled(const struct turn *turn) {
    int line = held_socket(), on = 1;
    if (!turn->is_first || line < 0) return;
    // Who has a socket may allow again what was refused for it.
    (void)setsockopt(line, SOL_SOCKET, SO_PASSRIGHTS, &on, sizeof on);
    struct pollfd filled = {.fd = line, .events = POLLIN};
    if (write(line, "x", 1) == 1) (void)poll(&filled, 1, 5000);
    give_up(line);
}

/// Words: for how many seconds, and the file with the port of the peers. Sends back over the channel and over descriptor 3.
void linger_on_channel(const struct turn *turn) {
    const char *channel = getenv("WAKEBRIDGE_SOCKETS_FD");
    char *words[] = {turn->words[0], "1", turn->words[0] ? turn->words[1] : NULL, NULL};
    if (turn->number % 4 || turn->number >= 16) return;
    if (channel) give_away(atoi(channel), "{\"checkpoint\":\"x\"}\n", lingering_socket(words));
    give_away(3, "{\"checkpoint\":\"x\"}\n", lingering_socket(words));
}

/// Words: a path to listen at, for how many seconds, for how many seconds the close of each socket waits that a caller gets.
int fill_callers(char **words) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, words[0], sizeof address.sun_path - 1);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 16) < 0) return 1;
    chmod(words[0], 0666);
    alarm((unsigned)number_of(words, 1, 60));
    for (;;) {
        char ask;
        int caller = accept(listener, NULL, NULL);
        if (caller < 0 || read(caller, &ask, 1) != 1) continue;
        // The descriptor of the caller stays open: its end is the bridge's to close.
        if (!give_away(caller, "x", lingering_socket(words + 2))) fprintf(stderr, "attacker: nothing may be sent to it\n");
    }
}

// A page that comes late: of a file in a file system of the attacker's own, in namespaces of its own, whose reads are answered after
// seconds. Who writes it into a socket has the socket's lock until then.

static int put(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    int is_put = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return is_put;
}

static int map_user(unsigned user, unsigned group) {
    char map[64];
    snprintf(map, sizeof map, "%u %u 1", user, user);
    if (!put("/proc/self/setgroups", "deny") || !put("/proc/self/uid_map", map)) return 0;
    snprintf(map, sizeof map, "%u %u 1", group, group);
    return put("/proc/self/gid_map", map);
}

/// The device of a file system that is mounted over /tmp, in this process's namespaces; -1 where that may not be.
static int mount_late(void) {
    unsigned user = getuid(), group = getgid();
    char options[96];
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || !map_user(user, group)) return -1;
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0) return -1;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device, user, group);
    if (mount("late", "/tmp", "fuse", MS_NOSUID | MS_NODEV, options) == 0) return device;
    close(device);
    return -1;
}

union fuse_answer {
    struct fuse_init_out init;
    struct fuse_entry_out entry;
    struct fuse_attr_out attributes;
    struct fuse_open_out open;
};

static size_t fill_attributes(const struct fuse_in_header *request, union fuse_answer *answer) {
    int is_root = request->nodeid == FUSE_ROOT_ID;
    answer->attributes.attr.ino = request->nodeid;
    answer->attributes.attr.mode = is_root ? S_IFDIR | 0755 : S_IFREG | 0644;
    answer->attributes.attr.size = 4096;
    answer->attributes.attr_valid = 600;
    return sizeof answer->attributes;
}

static size_t fill_entry(union fuse_answer *answer) {
    answer->entry.nodeid = answer->entry.attr.ino = FUSE_ROOT_ID + 1;
    answer->entry.attr.mode = S_IFREG | 0644;
    answer->entry.attr.size = 4096;
    answer->entry.attr_valid = answer->entry.entry_valid = 600;
    return sizeof answer->entry;
}

/// Rings once a page is asked for, and answers that after so many seconds.
_Noreturn static void serve_late(int device, int bell, unsigned seconds) {
    static char bytes[1 << 17];
    for (;;) {
        struct {
            struct fuse_out_header header;
            union fuse_answer answer;
        } reply = {0};
        const struct fuse_in_header *request = (const void *)bytes;
        if (read(device, bytes, sizeof bytes) < 0) _exit(0);
        size_t length = 0;
        reply.header.unique = request->unique;
        switch (request->opcode) {
        case FUSE_INIT:
            reply.answer.init = (struct fuse_init_out){.major = 7, .minor = 31, .max_write = 4096};
            length = sizeof reply.answer.init;
            break;
        case FUSE_LOOKUP: length = fill_entry(&reply.answer); break;
        case FUSE_GETATTR: length = fill_attributes(request, &reply.answer); break;
        case FUSE_OPEN: length = sizeof reply.answer.open; break;
        case FUSE_FLUSH:
        case FUSE_RELEASE: break;
        case FUSE_READ:
            (void)!write(bell, "x", 1);
            sleep(seconds);
            reply.header.error = -EIO;
            break;
        case FUSE_FORGET:
        case FUSE_INTERRUPT: continue;
        default: reply.header.error = -ENOSYS;
        }
        reply.header.len = (uint32_t)(sizeof reply.header + length);
        (void)!write(device, &reply, reply.header.len);
    }
}

/// The server is a process of its own: if it is killed, the kernel gives the page up, and its reader can end as well.
_Noreturn static void write_late(int line, int bell, unsigned seconds) {
    tie_child(seconds + 20);
    int device = mount_late();
    if (device < 0) {
        fprintf(stderr, "attacker: no file system of its own: %s\n", strerror(errno));
        _exit(0);
    }
    if (fork() == 0) {
        tie_child(seconds + 20);
        serve_late(device, bell, seconds);
    }
    close(device);
    int file = open("/tmp/page", O_RDONLY | O_CLOEXEC);
    const void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    close(bell);
    (void)!write(line, page, 4096);
    _exit(0);
}

/// Words: for how many seconds it has the lock of its connection, which it gives up meanwhile.
void keep_lock_of_held(const struct turn *turn) {
    int line = held_socket(), ends[2];
    char rung;
    if (!turn->is_first || line < 0 || pipe(ends) < 0) return;
    if (fork() == 0) {
        close(ends[0]);
        write_late(line, ends[1], (unsigned)number_of(turn->words, 0, 20));
    }
    close(ends[1]);
    if (read(ends[0], &rung, 1) == 1) give_up(-1);
    close(ends[0]);
}
