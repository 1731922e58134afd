// The journal's records about itself, beside the events: the newest number, the batch that was delivered last, the line
// of a trace.
import WakeModel

/// The newest number journaled, and when.
struct Cursor: Hashable {
    static let none = Cursor(seq: Sequence(0), wall: WallTime(microseconds: 0))

    var seq: Sequence
    var wall: WallTime

    /// In the columns of an event.
    var stamp: Stamp {
        let moment = Moment(monotonic: Instant(nanoseconds: seq.stored), boottime: .zero)
        return Stamp(moment: moment, wall: wall, isClockSynchronized: false)
    }
}

/// Each record carries the cursor of its commit, so that the cursor needs no statement of its own.
struct ProgressRecord {
    struct Key: RawRepresentable, Hashable {
        static let cursor = Key(rawValue: 0)
        static let replayPosition = Key(rawValue: -1)
        /// The batch last delivered to the handler: its numbers, packed.
        static func lease(_ handler: HandlerID) -> Key { Key(rawValue: -1 - Int64(handler.rawValue)) }
        /// How far the stream of another bridge was followed, by the stream's number in the journal.
        static func stream(_ number: Int) -> Key { Key(rawValue: firstStream - Int64(number)) }

        /// Below all that handlers have.
        private static let firstStream = -2 - Int64(UInt32.max)

        /// Never above 0, where the events are.
        var rawValue: Int64
        var handler: HandlerID? {
            rawValue < -1 && rawValue > Self.firstStream
                ? HandlerID(rawValue: UInt32(truncatingIfNeeded: -1 - rawValue)) : nil
        }
        var stream: Int? { rawValue <= Self.firstStream ? Int(Self.firstStream - rawValue) : nil }
    }

    var key: Key
    var cursor: Cursor
    var value: [UInt8]
}

extension Recovery.ReplayPosition {
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(Int64(line))
        return bytes + source.utf8
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes: bytes)
        guard let line: Int64 = try? reader.integer() else { return nil }
        self.init(source: reader.restText, line: Int(line))
    }
}
