// A one-way channel into a child: it passes descriptors, and none comes back that would have to be closed.
import CLinux
import Glibc

/// Owns the daemon's end, and the child's until the child has been started.
public final class DescriptorChannel {
    private let ours: FileDescriptor
    private var theirs: FileDescriptor?

    public init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        _ = try attemptC { clinux_one_way_pair(&ends) }.get("make", "a pair of sockets")
        ours = FileDescriptor(owning: ends[0])
        theirs = FileDescriptor(owning: ends[1])
    }

    /// To be inherited by the child; nil once it has been given.
    public var childEnd: Int32? {
        switch theirs {
        case .some(let end): end.raw
        case .none: nil
        }
    }

    /// The child has been started.
    public func releaseChildEnd() { theirs = nil }

    /// Sends a copy of a descriptor with a text; false where there is no room, or no reader any more.
    public func pass(_ descriptor: Int32, with text: [UInt8]) -> Bool {
        let number = ours.raw
        return if case .value = attemptC({ clinux_pass_descriptor(number, text, text.count, descriptor) }) {
            true
        } else {
            false
        }
    }
}
