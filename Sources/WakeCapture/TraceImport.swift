// Imports recordings of any known format, streaming: unpacks them, and passes them to their readers.
import WakeModel
import WakeTrace

public struct TraceImport {
    /// In one another: a capture in gzip in an archive is three.
    private static let depthLimit = 4

    private let terms: ImportTerms
    private var draft: TraceDraft
    /// The limit for the present file, with all files around it.
    private var limit = UnpackingLimit()

    /// - Parameter cutting: how profiles make messages of recorded bytes.
    public init(
        _ terms: ImportTerms = ImportTerms(), store: any EntryStore = HeldEntries(),
        cutting: (any MessageCutting)? = nil
    ) {
        self.terms = terms
        draft = TraceDraft(store, cutting)
    }

    /// Adds a recording. Several belong together if one describes the devices that another is about.
    public mutating func add(_ supply: any ByteSupply) throws(ImportError) {
        let earlier = draft.cut
        (limit, draft.cut) = (UnpackingLimit(), nil)
        try read(ByteCursor(supply), of: nil, depth: 0)
        draft.endMessages()
        draft.cut = earlier ?? draft.cut
    }

    /// Where the first recording was damaged of which a part was kept.
    public var cut: ImportError? { draft.cut }

    public mutating func finish() throws(ImportError) -> Imported { try draft.finish() }

    /// - Parameter member: the file of an archive, for errors and lists.
    private mutating func read(_ cursor: ByteCursor, of member: String?, depth: Int) throws(ImportError) {
        var cursor = cursor
        let head = RecordingHead(&cursor)
        let kind = terms.isSerial && !head.isGzip ? .serial : try head.kind()
        guard depth < Self.depthLimit else {
            throw ImportError(offset: 0, reason: "it is packed over \(Self.depthLimit) times, one in the other")
        }
        draft.parts.append(ImportedPart(name: member, kind: kind))
        switch kind {
        case .gzip: try readPacked(GzipSupply(cursor, limit, isInner: depth > 0), of: member, depth)
        case .zip: try readArchive(ZipArchive(cursor, limit, isInner: depth > 0), depth)
        case .bugReport:
            guard try readBugReport(cursor) else {
                let advice = "turn the Bluetooth HCI snoop log on in the phone's developer options"
                throw ImportError(offset: 0, reason: "the bug report holds no Bluetooth log; \(advice)")
            }
        default: try read(cursor, kind)
        }
    }

    private mutating func read(_ cursor: ByteCursor, _ kind: RecordingKind) throws(ImportError) {
        switch kind {
        case .btsnoop: try capture(try BtsnoopReader(cursor))
        case .pcap: try capture(try PcapReader(cursor))
        case .pcapng: try capture(PcapngReader(cursor))
        case .packetLogger: try readPacketLogger(cursor)
        case .evemu: try lines(cursor, EvemuFollower())
        case .libinput: try lines(cursor, LibinputFollower())
        case .hidRecorder: try lines(cursor, HIDRecorderFollower())
        case .hidDescriptor: try readDescriptor(cursor)
        case .described: try lines(cursor, DescribedNodes())
        case .script: try lines(cursor, ScriptFollower(terms))
        case .ioctl: try lines(cursor, IoctlFollower())
        case .nmea: try lines(cursor, NMEAFollower(terms))
        case .serial: try RawSerialReader.readAll(cursor, into: &draft, terms)
        case .nrfConnect: try lines(cursor, NRFConnectFollower())
        case .gatttool: try lines(cursor, GatttoolFollower(terms))
        case .bluetoothctl: try lines(cursor, BluetoothctlFollower(terms))
        case .gzip, .zip, .bugReport: break
        }
    }

    private mutating func readPacked(_ supply: GzipSupply, of member: String?, _ depth: Int) throws(ImportError) {
        do throws(ImportError) { try read(ByteCursor(supply), of: member, depth: depth + 1) } catch {
            throw error.within("what it unpacks to")
        }
        draft.cut = draft.cut?.within("what it unpacks to")
    }

    private mutating func lines(_ cursor: ByteCursor, _ follower: some LineFollower) throws(ImportError) {
        var follower = follower
        try follower.readAll(cursor, into: &draft, partial: terms.partial)
    }

    private mutating func capture(_ reader: some CaptureReader) throws(ImportError) {
        var (reader, follower) = (reader, CaptureFollower(draft, terms))
        try reader.readAll(into: &follower, partial: terms.partial)
        draft = try follower.finish()
    }

    private mutating func readPacketLogger(_ cursor: ByteCursor) throws(ImportError) {
        let head = cursor.peek(RecordingKind.headBytes)
        let order = PacketLoggerReader.order(of: head, isWhole: head.count < RecordingKind.headBytes)
        try capture(PacketLoggerReader(cursor, order ?? .big))
    }

    /// Adds a device that the recording describes no further.
    private mutating func readDescriptor(_ cursor: ByteCursor) throws(ImportError) {
        let descriptor = ReportCutter(cursor.peek(RecordingKind.headBytes))
        _ = draft.hidDevice(name: nil, vendor: nil, product: 0, port: "hid", descriptor: descriptor)
    }

    /// Whether it holds a log.
    private mutating func readBugReport(_ cursor: ByteCursor) throws(ImportError) -> Bool {
        guard let report = try BugReport(cursor, partial: terms.partial) else { return false }
        var follower = CaptureFollower(draft, terms)
        try report.readAll(into: &follower)
        draft = try follower.finish()
        return true
    }
}

// Archives.
extension TraceImport {
    /// The first recording in it, or the requested one; the others are listed.
    private mutating func readArchive(_ archive: ZipArchive, _ depth: Int) throws(ImportError) {
        var isFound = false
        var others: [String] = []
        while let member = try next(of: archive, isFound) {
            var cursor = ByteCursor(member)
            guard terms.member == nil || terms.member == member.name, let kind = kind(of: &cursor) else { continue }
            guard !isFound else {
                others.append(member.name)
                draft.parts.append(ImportedPart(name: member.name, kind: kind))
                continue
            }
            isFound = try read(cursor, kind, of: member.name, depth)
        }
        guard isFound else {
            let sought = terms.member.map { "\($0) is not in the archive, or is no recording" }
            throw ImportError(offset: 0, reason: sought ?? "no file in the archive is a recording that is known")
        }
        if !others.isEmpty {
            draft.warn("the archive holds \(others.joined(separator: ", ")) too; --member NAME imports it instead")
        }
    }

    /// The next file. With `partial`, damage behind the wanted recording is no error.
    private mutating func next(of archive: ZipArchive, _ isFound: Bool) throws(ImportError) -> ZipMember? {
        do throws(ImportError) { return try archive.next() } catch {
            guard isFound, terms.partial else { throw error }
            draft.cut = draft.cut ?? error
            return nil
        }
    }

    /// Nil for files that are no recordings. Text in a bug report looks like much: only captures are found unasked.
    private func kind(of cursor: inout ByteCursor) -> RecordingKind? {
        guard let kind = try? RecordingHead(&cursor).kind() else { return nil }
        switch kind {
        case .btsnoop, .pcap, .pcapng, .bugReport: return kind
        default: return terms.member == nil ? nil : kind
        }
    }

    private mutating func read(
        _ cursor: ByteCursor, _ kind: RecordingKind, of name: String, _ depth: Int
    ) throws(ImportError) -> Bool {
        do {
            if kind == .bugReport {
                guard try readBugReport(cursor) else { return false }
                draft.parts.append(ImportedPart(name: name, kind: kind))
            } else {
                try read(cursor, of: name, depth: depth + 1)
            }
            draft.cut = draft.cut?.within(name)
            return true
        } catch {
            throw error.within(name)
        }
    }
}
