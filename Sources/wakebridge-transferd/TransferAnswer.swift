// One answer as it arrives: its head, what that means for the part, and the bytes that are written into it.
import WakeModel
import WakeSystem
import WakeTransfer

struct TransferAnswer: ~Copyable {
    /// Whom the request goes to: redirects lead elsewhere than the order.
    var address: WebAddress
    var failure: TransferFailure?
    var sent: Int64 = 0
    /// The length of the part, as far as it is of use.
    private(set) var written: Int64 = 0
    private(set) var hasMoved = false
    private var head = ResponseHead()
    private var verdict: Verdict?
    private var part: FileDescriptor?
    private var isPrepared = false
    /// What lies before it is on its way to the disk.
    private var sentToDisk: Int64 = 0
    private var keptAt = Instant.zero
    private var ignored = 0

    /// So much, or so long, may be lost when the power goes.
    private static let mostUnkept: Int64 = 64 << 20
    private static let longestUnkept = TimeSpan.seconds(5)
    /// The disk writes while more is received: no sync finds much to do.
    private static let writeback: Int64 = 8 << 20
    /// Of a body that is of no interest.
    private static let mostIgnored = 64 << 10

    init(_ address: WebAddress) { self.address = address }

    /// - Parameter part: nil for an upload.
    mutating func begin(_ part: consuming FileDescriptor?) {
        self.part = part
        (head, verdict, failure, isPrepared) = (ResponseHead(), nil, nil, false)
        (hasMoved, ignored, sent, written) = (false, 0, 0, 0)
        keptAt = SystemClock.monotonic()
    }

    var hasHead: Bool { head.status != 0 }
    var status: Int64? { head.status == 0 ? nil : head.status }

    mutating func hear(head line: [UInt8]) -> Bool {
        if head.add(line) { return true }
        failure = .head
        return false
    }

    /// What the answer means; decided once, when its head is whole.
    mutating func decide(isUpload: Bool, _ record: PartRecord) -> Verdict {
        if let verdict { return verdict }
        let decided = isUpload ? Verdict(ofUpload: head) : Verdict(head, having: record)
        verdict = decided
        return decided
    }

    /// False where no more of the body is wanted.
    mutating func hear(
        _ bytes: [UInt8], isUpload: Bool, _ record: inout PartRecord, in folder: PartFolder
    ) throws(SystemError) -> Bool {
        guard case .write = decide(isUpload: isUpload, record) else {
            ignored += bytes.count
            return ignored <= Self.mostIgnored && verdict != .restart
        }
        guard try prepare(&record, in: folder) else { return false }
        try part?.write(all: bytes, at: written)
        written += Int64(bytes.count)
        hasMoved = true
        guard written - sentToDisk >= Self.writeback else { return true }
        part?.beginWriteback(from: sentToDisk, to: written)
        sentToDisk = written
        // What was announced may be less than what comes, and others fill the disk too.
        return hasRoom(for: nil, in: folder)
    }

    private mutating func hasRoom(for wanted: Int64?, in folder: PartFolder) -> Bool {
        guard let space = folder.space,
            !TransferRoom.has(wanted, available: space.availableBytes, of: space.totalBytes)
        else { return true }
        failure = .storage
        return false
    }

    /// Before the first byte, or where none comes: the part is cut to where the answer begins. False where there is no room.
    /// The record says so first: what is kept of another version must never be joined with this one.
    mutating func prepare(_ record: inout PartRecord, in folder: PartFolder) throws(SystemError) -> Bool {
        guard !isPrepared, case .write(let start, let total)? = verdict else { return true }
        guard hasRoom(for: total.map { $0 - start }, in: folder) else { return false }
        (record.offset, record.total) = (min(record.offset, start), total)
        record.validator = head.validator ?? (start > 0 ? record.validator : nil)
        try folder.save(record)
        try cut(to: start)
        (written, sentToDisk, isPrepared) = (start, start, true)
        return true
    }

    func cut(to count: Int64) throws(SystemError) { try part?.cut(to: count, "a part") }

    /// What the record is to say once the disk has all that was written by now; nil while little would be lost.
    mutating func recordToKeep(_ record: PartRecord) -> PartRecord? {
        let now = SystemClock.monotonic()
        guard isPrepared, written - record.offset >= Self.mostUnkept || now - keptAt >= Self.longestUnkept else {
            return nil
        }
        keptAt = now
        var kept = record
        kept.offset = written
        return kept
    }

    /// The bytes are on the disk before the record says so.
    mutating func synchronize(_ record: inout PartRecord) throws(SystemError) -> Bool {
        keptAt = SystemClock.monotonic()
        guard isPrepared, written != record.offset else { return false }
        try part?.synchronize("a part")
        record.offset = written
        return true
    }
}
