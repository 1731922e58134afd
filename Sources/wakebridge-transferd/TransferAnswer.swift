// An answer as it arrives: its head, its meaning for the part, and the bytes that go into the part.
import WakeModel
import WakeSystem
import WakeTransfer

struct TransferAnswer: ~Copyable {
    /// The server of the current request: a redirect may lead elsewhere than the order.
    var address: WebAddress
    /// The farthest of the servers that redirected it; it goes to no nearer one. Nil at the order's own server.
    var reach: AddressReach?
    private(set) var failure: TransferFailure?
    /// The file system's error for its bytes.
    var fault: SystemError?
    var sent: Int64 = 0
    /// The length of the part, as far as it is of use.
    private(set) var written: Int64 = 0
    /// More of the file has come than ever before: repeated ends at one place are no progress.
    private(set) var hasMoved = false
    private var furthest: Int64 = 0
    private var head = ResponseHead()
    private var verdict: Verdict?
    private var part: FileDescriptor?
    private var isPrepared = false
    /// The bytes before it are on their way to the disk.
    private var sentToDisk: Int64 = 0
    private var keptAt = Instant.zero
    private var ignored = 0

    /// The most bytes, or the longest time, that may be lost when the power goes.
    private static let mostUnkept: Int64 = 64 << 20
    private static let longestUnkept = TimeSpan.seconds(5)
    /// The disk writes while more is received: a sync then has little to do.
    private static let writeback: Int64 = 8 << 20
    /// The most bytes of a body that is of no interest.
    private static let mostIgnored = 64 << 10

    init(_ address: WebAddress) { self.address = address }

    /// - Parameter part: nil for an upload.
    mutating func begin(_ part: consuming FileDescriptor?) {
        self.part = part
        (head, verdict, failure, fault, isPrepared) = (ResponseHead(), nil, nil, nil, false)
        (hasMoved, ignored, sent, written) = (false, 0, 0, 0)
        keptAt = SystemClock.monotonic()
    }

    /// Pauses: unrecorded bytes are written again.
    mutating func close() {
        part = nil
        (isPrepared, hasMoved) = (false, false)
    }

    /// A head that was cut off does not count, nor does one that only announces another.
    var hasHead: Bool { head.isWhole && head.status >= 200 }
    var status: Int64? { head.status == 0 ? nil : head.status }

    mutating func hear(head line: [UInt8]) -> Bool {
        if head.add(line) { return true }
        failure = .head
        return false
    }

    /// The meaning of the answer; decided once, when its head is whole.
    mutating func decide(isUpload: Bool, _ record: PartRecord) -> Verdict {
        if let verdict { return verdict }
        let decided = isUpload ? Verdict(ofUpload: head) : Verdict(head, having: record)
        verdict = decided
        return decided
    }

    /// False if the rest of the body is not wanted.
    mutating func hear(
        _ bytes: [UInt8], isUpload: Bool, _ record: inout PartRecord, in folder: PartFolder
    ) throws(SystemError) -> Bool {
        guard case .write = decide(isUpload: isUpload, record) else {
            ignored += bytes.count
            return ignored <= Self.mostIgnored && verdict != .restart
        }
        try prepare(&record, in: folder)
        try part?.write(all: bytes, at: written, of: "a part")
        written += Int64(bytes.count)
        if written > furthest { (furthest, hasMoved) = (written, true) }
        guard written - sentToDisk >= Self.writeback else { return true }
        part?.beginWriteback(from: sentToDisk, to: written)
        sentToDisk = written
        // More bytes may come than were announced, and others fill the disk too.
        try requireRoom(for: nil, in: folder)
        return true
    }

    private func requireRoom(for wanted: Int64?, in folder: PartFolder) throws(SystemError) {
        guard let space = folder.space,
            !TransferRoom.has(wanted, available: space.availableBytes, of: space.totalBytes)
        else { return }
        throw SystemError("leave room beside", "a part", .noSpace)
    }

    /// Whether others fill the disk, and may leave it again.
    func mayFindRoom(_ record: PartRecord, in folder: PartFolder) -> Bool {
        guard let space = folder.space else { return true }
        var whole = record.total
        if case .write(_, let total)? = verdict { whole = total }
        return TransferRoom.mayCome(
            for: whole, having: written, available: space.availableBytes, of: space.totalBytes)
    }

    /// Before the first byte, or if none comes: with room for the rest, the part is cut to where the answer begins. The
    /// record is written first: bytes of another version must never be joined with this one.
    mutating func prepare(_ record: inout PartRecord, in folder: PartFolder) throws(SystemError) {
        guard !isPrepared, case .write(let start, let total)? = verdict else { return }
        try requireRoom(for: total.map { $0 - start }, in: folder)
        (record.offset, record.total) = (min(record.offset, start), total)
        record.validator = head.validator ?? (start > 0 ? record.validator : nil)
        try folder.save(record)
        try cut(to: start)
        (written, sentToDisk, isPrepared) = (start, start, true)
    }

    func cut(to count: Int64) throws(SystemError) { try part?.cut(to: count, "a part") }

    /// The record for the time when the disk has all written bytes; nil if it is unchanged.
    func recordOfAll(_ record: PartRecord) -> PartRecord? {
        guard isPrepared, written != record.offset else { return nil }
        var kept = record
        kept.offset = written
        return kept
    }

    /// The same; nil while little would be lost.
    mutating func recordToKeep(_ record: PartRecord) -> PartRecord? {
        let now = SystemClock.monotonic()
        guard written - record.offset >= Self.mostUnkept || now - keptAt >= Self.longestUnkept else { return nil }
        keptAt = now
        return recordOfAll(record)
    }
}
