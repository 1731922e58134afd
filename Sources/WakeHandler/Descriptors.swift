// The two descriptors of a handler: events in, replies out; a signal, a freeze or a missing bridge never ends a read or a write.
import Glibc

enum ReadResult {
    case bytes([UInt8])
    case end
}

/// Reads what there is, at most 64 KiB. A thaw interrupts a read with EINTR, which is no end.
func readInput(_ descriptor: Int32) -> ReadResult {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
        var result = read(descriptor, buffer.baseAddress, buffer.count)
        while result < 0, errno == EINTR || errno == EAGAIN {
            if errno == EAGAIN { waitUntil(descriptor, POLLIN) }
            result = read(descriptor, buffer.baseAddress, buffer.count)
        }
        failure = result < 0 ? errno : 0
        count = max(0, result)
    }
    return failure != 0 || bytes.isEmpty ? .end : .bytes(bytes)
}

/// Where replies and log lines go; nowhere when the program was started without the descriptor.
struct OutputDescriptor {
    private var descriptor: Int32?

    /// Looks once, at the start: a closed descriptor 3 would be given to the next file that the handler opens.
    init(_ number: Int32) { descriptor = fcntl(number, F_GETFD) >= 0 ? number : nil }

    /// Writes all of it, or gives up for good when nobody reads any more.
    mutating func write(_ bytes: [UInt8]) {
        guard let descriptor else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { writeQuietly(descriptor, $0) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                waitUntil(descriptor, POLLOUT)
            } else if errno != EINTR {
                self.descriptor = nil
                return
            }
        }
    }
}

/// A pipe without a reader raises SIGPIPE, which ends a program that does not ignore it. So the signal waits for the time of the
/// call, and one that this call raised is dropped.
private func writeQuietly(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    var brokenPipe = sigset_t()
    var before = sigset_t()
    sigemptyset(&brokenPipe)
    sigaddset(&brokenPipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
    let written = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    let failure = errno
    if written < 0, failure == EPIPE, sigismember(&before, SIGPIPE) == 0 {
        var atOnce = timespec()
        sigtimedwait(&brokenPipe, nil, &atOnce)
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = failure
    return written
}

private func waitUntil(_ descriptor: Int32, _ events: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    _ = poll(&entry, 1, -1)
}

/// CLOCK_MONOTONIC, which counts on while a handler is frozen.
func monotonicNow() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
