// The operations of devices, in a compact form outside of memory, until the names of all of them are known.
import WakeModel

/// The store of waiting entries: a temporary file of the tool, or memory in tests. A failure is kept, and reported at
/// the read.
public protocol EntryStore: AnyObject {
    func append(_ bytes: [UInt8])
    /// The bytes from there on, at most `most`; empty at the end.
    func read(at offset: Int, most: Int) -> [UInt8]
}

/// For short recordings.
public final class HeldEntries: EntryStore {
    private var bytes: [UInt8] = []

    public init() {}

    public func append(_ bytes: [UInt8]) { self.bytes += bytes }

    public func read(at offset: Int, most: Int) -> [UInt8] {
        Array(bytes[min(offset, bytes.count)..<min(bytes.count, offset + most)])
    }
}

/// An operation of a device.
struct SpooledEntry {
    enum Deed {
        case connected
        case disconnected(String)
        /// The part by its number among those of the device.
        case data(part: Int, ArraySlice<UInt8>)
    }

    var device: Int
    var deed: Deed
}

/// A stretch of entries in order of time.
struct EntryRun {
    /// Its range in the store.
    var range: Range<Int>
    /// The time of its first record, in nanoseconds since 1970.
    var start: Int64
    /// Until its last entry.
    var length: TimeSpan
}

struct EntrySpool {
    private static let pageBytes = 64 << 10

    private let store: any EntryStore
    private var page: [UInt8] = []
    private var stored = 0
    private var runStart = 0
    private var latest = TimeSpan.zero
    private(set) var count = 0

    init(_ store: any EntryStore) {
        self.store = store
        page.reserveCapacity(Self.pageBytes * 2)
    }

    /// Ends the stretch of entries that came in order of time.
    mutating func endRun(start: Int64) -> EntryRun {
        defer { (runStart, latest) = (stored + page.count, .zero) }
        return EntryRun(range: runStart..<(stored + page.count), start: start, length: latest)
    }

    mutating func add(_ entry: SpooledEntry, at time: TimeSpan) {
        count += 1
        switch entry.deed {
        case .connected: begin(0, entry.device, at: time)
        case .disconnected(let reason):
            begin(1, entry.device, at: time)
            append(UInt64(reason.utf8.count))
            page.append(contentsOf: reason.utf8)
        case .data(let part, let bytes):
            begin(2, entry.device, at: time)
            append(UInt64(part))
            append(UInt64(bytes.count))
            page.append(contentsOf: bytes)
        }
        if page.count >= Self.pageBytes { flush() }
    }

    mutating func flush() {
        store.append(page)
        stored += page.count
        page.removeAll(keepingCapacity: true)
    }

    private mutating func begin(_ kind: UInt8, _ device: Int, at time: TimeSpan) {
        page.append(kind)
        append(UInt64((time - latest).nanoseconds))
        append(UInt64(device))
        latest = time
    }

    /// Seven bits a byte, the lowest first; the last byte has its highest bit clear.
    private mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            page.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        page.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// Reads the entries of one run back.
struct EntryReader {
    private final class Pages: ByteSupply {
        private let store: any EntryStore
        private var rest: Range<Int>

        init(_ store: any EntryStore, _ range: Range<Int>) { (self.store, rest) = (store, range) }

        func next() -> [UInt8]? {
            let bytes = store.read(at: rest.lowerBound, most: min(rest.count, 64 << 10))
            rest = (rest.lowerBound + bytes.count)..<rest.upperBound
            return bytes.isEmpty ? nil : bytes
        }
    }

    private var cursor: ByteCursor
    /// The time of the next entry, in nanoseconds since 1970; nil at the end.
    private(set) var time: Int64?
    private var kind: UInt8 = 0

    init(_ store: any EntryStore, _ run: EntryRun) throws(ImportError) {
        cursor = ByteCursor(Pages(store, run.range))
        time = run.start
        try begin()
    }

    /// The entry whose time is ``time``.
    mutating func next() throws(ImportError) -> SpooledEntry {
        let device = Int(try number())
        let deed: SpooledEntry.Deed
        switch kind {
        case 0: deed = .connected
        case 1: deed = .disconnected(String(decoding: try bytes(), as: UTF8.self))
        default: deed = .data(part: Int(try number()), try bytes())
        }
        return SpooledEntry(device: device, deed: deed)
    }

    /// Goes on to the entry that follows; the bytes of the last one must not be held any longer.
    mutating func begin() throws(ImportError) {
        guard let latest = time, try cursor.has(1) else {
            time = nil
            return
        }
        kind = cursor.read(1).first ?? 0
        time = latest + Int64(try number())
    }

    private mutating func number() throws(ImportError) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while try cursor.has(1) {
            let byte = cursor.byte(0)
            _ = cursor.read(1)
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw lost
    }

    private mutating func bytes() throws(ImportError) -> ArraySlice<UInt8> {
        let count = Int(try number())
        guard try cursor.has(count) else { throw lost }
        return cursor.read(count)
    }

    /// The stored entries cannot be read back: the disk is full, or failed.
    private var lost: ImportError {
        ImportError(offset: cursor.offset, reason: "the temporary file of the import cannot be read back")
    }
}
