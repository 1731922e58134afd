// Unpacks compressed bytes piece by piece, so that neither side of them is ever held whole.
import CZlib

/// A compressed stream, from its header to its end.
public struct Inflater: ~Copyable {
    public enum Form: Sendable {
        case gzip, zlib
        /// Without a header, as in a zip archive.
        case bare

        fileprivate var window: Int32 {
            switch self {
            case .gzip: 31
            case .zlib: 15
            case .bare: -15
            }
        }
    }

    public enum Step: Hashable, Sendable {
        case more, end, damaged
    }

    private let state: UnsafeMutableRawPointer

    /// Nil where memory is short.
    public init?(_ form: Form) {
        guard let state = wake_inflate_begin(form.window) else { return nil }
        self.state = state
    }

    deinit { wake_inflate_end(state) }

    /// Appends at most `room` unpacked bytes to `unpacked`, and drops from `packed` what it has used.
    public mutating func unpack(_ packed: inout ArraySlice<UInt8>, into unpacked: inout [UInt8], room: Int) -> Step {
        var (used, written) = (0, 0)
        let start = unpacked.count
        unpacked += [UInt8](repeating: 0, count: room)
        let outcome = packed.withUnsafeBufferPointer { source in
            unpacked.withUnsafeMutableBufferPointer { target in
                guard let into = target.baseAddress else { return Int32(0) }
                return wake_inflate(state, source.baseAddress, source.count, &used, into + start, room, &written)
            }
        }
        unpacked.removeLast(room - written)
        packed = packed.dropFirst(used)
        return outcome == 1 ? .end : outcome == 0 ? .more : .damaged
    }
}
