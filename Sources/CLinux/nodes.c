// The nodes of devices. Speeds without a name need the kernel's termios2, which conflicts with the C library's termios.h in
// one file.
#define _GNU_SOURCE
#include "clinux_nodes.h"

#include <asm/termbits.h>
#include <errno.h>
#include <linux/hidraw.h>
#include <linux/input.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>

static int answer(int value) { return value < 0 ? -errno : value; }

int clinux_is_hung_up(int descriptor) {
    struct pollfd state = {.fd = descriptor};
    int ready = poll(&state, 1, 0);
    return ready < 0 ? -errno : (state.revents & (POLLHUP | POLLERR)) != 0;
}

int clinux_node_lock(int descriptor) { return answer(flock(descriptor, LOCK_EX | LOCK_NB)); }
int clinux_node_unlock(int descriptor) { return answer(flock(descriptor, LOCK_UN)); }

// ---- Serial lines -----------------------------------------------------------------------------------------------

static const tcflag_t sizes[] = {CS5, CS6, CS7, CS8};

static tcflag_t control_flags(const struct clinux_line *line) {
    tcflag_t flags = BOTHER | CREAD | CLOCAL | sizes[(line->data_bits - 5) & 3];
    if (line->stop_bits == 2) flags |= CSTOPB;
    if (line->parity != 'n') flags |= PARENB;
    if (line->parity == 'o') flags |= PARODD;
    if (line->flow == 'h') flags |= CRTSCTS;
    if (line->hangs_up) flags |= HUPCL;
    return flags;
}

int clinux_line_set(int descriptor, const struct clinux_line *line) {
    struct termios2 settings;
    if (ioctl(descriptor, TCGETS2, &settings) < 0) return -errno;
    // A break on the line is no byte; bytes with a wrong parity are passed on unchanged.
    settings.c_iflag = IGNBRK | (line->flow == 's' ? IXON | IXOFF : 0);
    settings.c_oflag = 0;
    settings.c_lflag = 0;
    settings.c_cflag = control_flags(line);
    settings.c_ispeed = settings.c_ospeed = line->baud;
    settings.c_cc[VSTART] = 0x11;
    settings.c_cc[VSTOP] = 0x13;
    // With a minimum of 0, an empty line would read as its end.
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    return answer(ioctl(descriptor, TCSETS2, &settings));
}

int clinux_line_get(int descriptor, struct clinux_line *line) {
    struct termios2 settings;
    if (ioctl(descriptor, TCGETS2, &settings) < 0) return -errno;
    tcflag_t flags = settings.c_cflag;
    bool hardware = flags & CRTSCTS, software = settings.c_iflag & (IXON | IXOFF);
    line->baud = settings.c_ospeed;
    for (uint8_t size = 0; size < 4; size++)
        if ((flags & CSIZE) == sizes[size]) line->data_bits = size + 5;
    line->stop_bits = flags & CSTOPB ? 2 : 1;
    line->parity = !(flags & PARENB) ? 'n' : flags & PARODD ? 'o' : 'e';
    line->flow = hardware && software ? 'b' : hardware ? 'h' : software ? 's' : 'n';
    line->hangs_up = flags & HUPCL;
    return 0;
}

int clinux_line_flush(int descriptor) { return answer(ioctl(descriptor, TCFLSH, TCIOFLUSH)); }

int clinux_line_discard(int descriptor) { return answer(ioctl(descriptor, TCFLSH, TCOFLUSH)); }

int clinux_line_exclude(int descriptor) { return answer(ioctl(descriptor, TIOCEXCL)); }
int clinux_line_include(int descriptor) { return answer(ioctl(descriptor, TIOCNXCL)); }

int clinux_line_is_exclusive(int descriptor) {
    int exclusive = 0;
    return ioctl(descriptor, TIOCGEXCL, &exclusive) < 0 ? -errno : exclusive != 0;
}

static int set_modem_line(int descriptor, int line, bool high) {
    return answer(ioctl(descriptor, high ? TIOCMBIS : TIOCMBIC, &line));
}

int clinux_line_set_dtr(int descriptor, bool high) { return set_modem_line(descriptor, TIOCM_DTR, high); }
int clinux_line_set_rts(int descriptor, bool high) { return set_modem_line(descriptor, TIOCM_RTS, high); }

// ---- Reports of HID devices -------------------------------------------------------------------------------------

int clinux_hidraw_descriptor(int descriptor, uint8_t *bytes, size_t capacity) {
    int size = 0;
    if (ioctl(descriptor, HIDIOCGRDESCSIZE, &size) < 0) return -errno;
    if (size < 0 || size > HID_MAX_DESCRIPTOR_SIZE) return -EOVERFLOW;
    struct hidraw_report_descriptor found = {.size = (uint32_t)size};
    if (ioctl(descriptor, HIDIOCGRDESC, &found) < 0) return -errno;
    size_t count = (size_t)size < capacity ? (size_t)size : capacity;
    memcpy(bytes, found.value, count);
    return (int)count;
}

// ---- Input events -----------------------------------------------------------------------------------------------

int clinux_evdev_grab(int descriptor, bool grab) { return answer(ioctl(descriptor, EVIOCGRAB, grab ? 1 : 0)); }

int clinux_evdev_set_clock(int descriptor, int clock) { return answer(ioctl(descriptor, EVIOCSCLOCKID, &clock)); }

int clinux_evdev_codes(int descriptor, int type, uint8_t *bits, size_t capacity) {
    return answer(ioctl(descriptor, EVIOCGBIT(type, capacity), bits));
}

int clinux_evdev_standing(int descriptor, int type, uint8_t *bits, size_t capacity) {
    switch (type) {
    case EV_KEY: return answer(ioctl(descriptor, EVIOCGKEY(capacity), bits));
    case EV_SW: return answer(ioctl(descriptor, EVIOCGSW(capacity), bits));
    case EV_LED: return answer(ioctl(descriptor, EVIOCGLED(capacity), bits));
    default: return -EINVAL;
    }
}

int clinux_evdev_axis(int descriptor, int code, int32_t *value, int32_t *maximum) {
    struct input_absinfo axis;
    if (ioctl(descriptor, EVIOCGABS(code), &axis) < 0) return -errno;
    *value = axis.value;
    *maximum = axis.maximum;
    return 0;
}

int clinux_evdev_slots(int descriptor, int code, int32_t *values, size_t count) {
    struct {
        uint32_t code;
        int32_t values[64];
    } request = {.code = (uint32_t)code};
    if (count > 64) return -EINVAL;
    size_t size = sizeof request.code + count * sizeof request.values[0];
    if (ioctl(descriptor, EVIOCGMTSLOTS(size), &request) < 0) return -errno;
    memcpy(values, request.values, count * sizeof request.values[0]);
    return 0;
}
