// The descriptors of a handler: events in, replies out. A signal, a freeze or a missing bridge breaks no read or write.
import Glibc

enum ReadResult {
    case bytes([UInt8])
    case end
}

/// Reads what is available, at most 64 KiB. A thaw interrupts a read with EINTR, which is not the end.
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

/// The destination of replies and log lines; none where the program was started without the descriptor.
struct OutputDescriptor {
    private var descriptor: Int32?

    /// Checked once, at the start: the next file that the handler opens would get a closed descriptor 3.
    init(_ number: Int32) { descriptor = fcntl(number, F_GETFD) >= 0 ? number : nil }

    /// Writes all of it, or gives up for good when the reader has closed its end.
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

/// A pipe without a reader raises SIGPIPE, which ends a program that does not ignore it. So the signal is blocked during
/// the call, and one that this call raised is dropped.
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
