// The descriptors of a handler: events in, replies out. A signal, a freeze or a missing daemon breaks no read or write.
#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

package enum ReadResult {
    case bytes([UInt8])
    case end
}

/// Reads what is available, at most 64 KiB. A thaw interrupts a read with EINTR, which is not the end.
package func readInput(_ descriptor: Int32) -> ReadResult {
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

/// Where lines go.
enum LineOutput {
    case descriptor(OutputDescriptor)
    /// Kept for a test harness.
    case memory([UInt8])

    mutating func write(_ bytes: [UInt8]) {
        switch self {
        case .descriptor(var descriptor):
            descriptor.write(bytes)
            self = .descriptor(descriptor)
        case .memory(let kept): self = .memory(kept + bytes)
        }
    }

    /// Returns the kept bytes, once.
    mutating func drain() -> [UInt8] {
        guard case .memory(let kept) = self else { return [] }
        self = .memory([])
        return kept
    }
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

/// A pipe without a reader raises SIGPIPE, which ends a program that does not ignore it.
#if canImport(Darwin)
    /// Sets the descriptor to raise no signal.
    private func writeQuietly(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        _ = fcntl(descriptor, F_SETNOSIGPIPE, 1)
        return write(descriptor, bytes.baseAddress, bytes.count)
    }
#else
    /// The signal is blocked during the call, and one that this call raised is dropped.
    private func writeQuietly(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        var brokenPipe = sigset_t()
        var before = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
        let written = write(descriptor, bytes.baseAddress, bytes.count)
        let failure = errno
        if written < 0, failure == EPIPE, sigismember(&before, SIGPIPE) == 0 {
            var atOnce = timespec()
            sigtimedwait(&brokenPipe, nil, &atOnce)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        errno = failure
        return written
    }
#endif

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

/// CLOCK_REALTIME, in microseconds since 1970.
func wallNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

/// The work of a thread, kept until the thread begins it.
private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Runs work that blocks. The cooperative threads are too few for it: on one core there is one.
///
/// Where the machine has no thread left, it may have one soon. If it has none for a second, the program ends: done on the
/// caller's thread, the work would block it for ever.
func startThread(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(ThreadWork(body)).toOpaque()
    for _ in 0..<20 {
        if beganThread(with: work) { return }
        usleep(50_000)
    }
    var standardError = OutputDescriptor(2)
    standardError.write(Array("wakehandler: no thread can be started to read events, so the handler ends\n".utf8))
    exit(1)
}

private func beganThread(with work: UnsafeMutableRawPointer) -> Bool {
    #if canImport(Glibc)
        var thread = pthread_t()
    #else
        var thread: pthread_t?
    #endif
    guard pthread_create(&thread, nil, beginThread, work) == 0 else { return false }
    #if canImport(Glibc)
        pthread_detach(thread)
    #else
        if let thread { pthread_detach(thread) }
    #endif
    return true
}

#if canImport(Darwin)
    private func beginThread(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
#else
    private func beginThread(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let work { Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().body() }
        return nil
    }
#endif
