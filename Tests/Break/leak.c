// Preloaded into a bridge: each fourth connection that it accepts costs it a descriptor for ever, so that a test can show that it
// would see that.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int accept4(int listener, struct sockaddr *restrict address, socklen_t *restrict size, int flags) {
    static int calls;
    if (++calls % 4 == 0) open("/dev/null", O_RDONLY | O_CLOEXEC);
    return (int)syscall(SYS_accept4, listener, address, size, flags);
}

int accept(int listener, struct sockaddr *restrict address, socklen_t *restrict size) {
    return accept4(listener, address, size, 0);
}
