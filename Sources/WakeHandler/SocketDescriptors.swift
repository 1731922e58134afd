// The descriptors of sockets that the process has: inherited as WAKEBRIDGE_SOCKETS lists them, or passed over WAKEBRIDGE_SOCKETS_FD.
internal import WakeModel

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

struct SocketDescriptors {
    private var numbers: [String: Int32] = [:]
    /// Over which more are passed.
    private let channel: Int32?

    /// - Parameter text: `sip=4,web=6`.
    init(inherited text: String, channel: Int32?) {
        self.channel = channel
        for pair in text.split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2, let number = Int32(parts[1]) { numbers[String(parts[0])] = number }
        }
    }

    subscript(name: String) -> Int32? { numbers[name] }
    var names: [String] { numbers.keys.sorted() }

    /// Receives the descriptors that were passed before their event.
    mutating func follow(_ event: SocketEvent) {
        switch event.kind {
        case .opened: while let passed = receivePassed() { numbers[passed.name] = passed.number }
        // The handler has yet to close it.
        case .closed, .readable, .keepAlive: break
        }
    }

    /// Each line comes with one descriptor, in one piece.
    private func receivePassed() -> (name: String, number: Int32)? {
        guard let channel else { return nil }
        var text = [UInt8](repeating: 0, count: 256)
        guard let (count, number) = receive(on: channel, &text), number >= 0 else { return nil }
        let line = try? JSONValue(parsing: text[..<count])
        guard let name = line?["socket"]?.string else {
            close(number)
            return nil
        }
        return (name, number)
    }
}

#if os(Linux)
    /// Returns the bytes of one piece, and the descriptor that came with it or -1; nil where nothing was sent.
    private func receive(on channel: Int32, _ text: inout [UInt8]) -> (count: Int, number: Int32)? {
        // A control message with one number, and room for no second one.
        var control = [UInt](repeating: 0, count: 3)
        let capacity = control.count * MemoryLayout<UInt>.size
        return text.withUnsafeMutableBytes { text -> (count: Int, number: Int32)? in
            control.withUnsafeMutableBytes { control -> (count: Int, number: Int32)? in
                var piece = iovec(iov_base: text.baseAddress, iov_len: text.count)
                return withUnsafeMutablePointer(to: &piece) { piece -> (count: Int, number: Int32)? in
                    var message = msghdr()
                    (message.msg_iov, message.msg_iovlen) = (piece, 1)
                    (message.msg_control, message.msg_controllen) = (control.baseAddress, numericCast(capacity))
                    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_CMSG_CLOEXEC)
                    let count = recvmsg(channel, &message, flags)
                    guard count > 0 else { return nil }
                    let header = control.load(as: cmsghdr.self)
                    let isPassed = message.msg_controllen > 0 && header.cmsg_type == Int32(SCM_RIGHTS)
                    let offset = MemoryLayout<cmsghdr>.size
                    return (count, isPassed ? control.load(fromByteOffset: offset, as: Int32.self) : -1)
                }
            }
        }
    }
#else
    /// The daemon runs on Linux alone.
    private func receive(on channel: Int32, _ text: inout [UInt8]) -> (count: Int, number: Int32)? { nil }
#endif
