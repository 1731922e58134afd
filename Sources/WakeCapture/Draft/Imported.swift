// The result of an import: the header of a trace, its report, and its lines, which are made as they are written.
import WakeModel
import WakeTrace

public struct ImportCounts: Hashable, Sendable {
    public var records = 0
    public var notifications = 0
    public var indications = 0
    /// LE links, with those that were up before the capture began.
    public var links = 0
    /// BR/EDR links, which are not imported.
    public var classicLinks = 0
    public var advertisements = 0
    /// Reports, batches and messages of accessories.
    public var messages = 0
    /// Packets that came damaged over the air, or a second time.
    public var dropped = 0
}

/// A file, or a file of an archive, and its kind.
public struct ImportedPart: Hashable, Sendable {
    /// Nil for the file itself.
    public var name: String?
    public var kind: RecordingKind
}

/// Where the bytes of a trace go.
public protocol TraceSink: AnyObject {
    func write(_ bytes: [UInt8])
}

public struct Imported {
    public let header: TraceHeader
    public let counts: ImportCounts
    public let parts: [ImportedPart]
    /// Sentences for the person who imports; a sentence about a place in the file names its offset.
    public let warnings: [String]
    /// The offset at which the file was cut, where only the part before it was imported.
    public let cut: ImportError?
    let devices: [DraftDevice]
    let runs: [EntryRun]
    let store: any EntryStore

    private static let pageBytes = 64 << 10

    /// The data of each device, in the order of the header, by the name of its channel.
    public var contents: [[(channel: String, count: Int)]] {
        devices.map { device in zip(device.parts, device.sent).map { (device.channel($0).wireName.text, $1) } }
    }

    /// Writes the whole trace in canonical form.
    public func write(to sink: some TraceSink) throws(ImportError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.pageBytes * 2)
        var writer = TraceWriter(header: header)
        writer.writeHeader(to: &bytes)
        let labels = devices.enumerated().map { place, device in
            device.parts.map { writer.label(of: place, device.channel($0)) }
        }
        var merge = try EntryMerge(store, runs)
        while let (time, entry) = try merge.next() {
            let offset = TimeSpan(nanoseconds: time - header.start.microseconds * 1000)
            switch entry.deed {
            case .connected:
                let kind = DeviceEvent.Kind.connected(folded: 0)
                writer.write(TraceOperation(offset: offset, device: entry.device, kind: kind), to: &bytes)
            case .disconnected(let reason):
                let kind = DeviceEvent.Kind.disconnected(reason: reason, folded: 0)
                writer.write(TraceOperation(offset: offset, device: entry.device, kind: kind), to: &bytes)
            case .data(let part, let payload):
                writer.writeData(labels[entry.device][part], payload, at: offset, to: &bytes)
            }
            if bytes.count >= Self.pageBytes {
                sink.write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        writer.writeEnd(to: &bytes)
        sink.write(bytes)
    }
}

/// The entries of all runs in order of time; at one time, those of the earlier run first.
private struct EntryMerge {
    private var readers: [EntryReader]
    /// The run whose entry was given out last, and is not behind us yet.
    private var open: Int?

    init(_ store: any EntryStore, _ runs: [EntryRun]) throws(ImportError) {
        readers = []
        for run in runs { readers.append(try EntryReader(store, run)) }
    }

    mutating func next() throws(ImportError) -> (Int64, SpooledEntry)? {
        if let open { try readers[open].begin() }
        open = readers.count == 1 ? 0 : earliest
        guard let open, let time = readers[open].time else { return nil }
        return (time, try readers[open].next())
    }

    private var earliest: Int? {
        var found: (place: Int, time: Int64)?
        for (place, reader) in readers.enumerated() {
            if let time = reader.time, found.map({ time < $0.time }) ?? true { found = (place, time) }
        }
        return found?.place
    }
}
