// Gathers the keys of a device into lines: an event is a scanned code, and not a key.
import WakeModel
import WakeSystem

/// Keys that type nothing wake no handler: they wait for the next line, and begin it.
struct TypedLine: Hashable, Sendable {
    struct Line: Hashable, Sendable {
        /// All batches of it, in the form of ``EvdevBatches/bytes(of:)``.
        var bytes: [UInt8]
        /// When its last batch came.
        var at: Instant
    }

    private enum Key {
        static let enters: Set<UInt16> = [28, 96]
        /// Shift, control, alt and meta of both sides; the locks.
        static let textless: Set<UInt16> = [42, 54, 29, 97, 56, 100, 125, 126, 58, 69, 70]
    }

    /// The most bytes of an event; a longer line is split.
    static let longest = 16_384

    private let pause: TimeSpan
    private var bytes: [UInt8] = []
    private var lastAt = Instant.zero
    /// When the first key came that types something; nil before it.
    private(set) var untoldSince: Instant?
    /// When the silence since the last batch ends the line.
    private(set) var deadline: Instant?

    init(pause: TimeSpan) { self.pause = pause }

    /// The lines that the batch ends.
    /// - Parameter end: when it had been read; silence may begin then.
    mutating func append(_ batch: InputBatch, readBy end: Instant) -> [Line] {
        var lines: [Line] = []
        let more = EvdevBatches.bytes(of: batch.events)
        if !bytes.isEmpty, bytes.count + more.count > Self.longest { lines.append(cut()) }
        bytes += more
        lastAt = batch.time
        let downs = batch.events.filter { $0.type == InputType.key && $0.value == 1 }.map(\.code)
        if downs.contains(where: { !Key.enters.contains($0) && !Key.textless.contains($0) }) {
            untoldSince = untoldSince ?? batch.time
        }
        guard untoldSince != nil else { return lines }
        deadline = end + pause
        if downs.contains(where: Key.enters.contains) { lines.append(cut()) }
        return lines
    }

    /// Returns the line that the silence until `now` ends. Read first whatever there is: only then it was silent.
    mutating func tick(at now: Instant) -> Line? {
        guard let deadline, now >= deadline else { return nil }
        return cut()
    }

    /// Returns the typed keys if no more follow. Keys that typed nothing are dropped.
    mutating func end() -> Line? {
        guard untoldSince != nil else {
            bytes = []
            return nil
        }
        return cut()
    }

    private mutating func cut() -> Line {
        defer { (bytes, untoldSince, deadline) = ([], nil, nil) }
        return Line(bytes: bytes, at: lastAt)
    }
}
