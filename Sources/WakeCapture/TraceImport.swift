// What every import of a foreign recording gives, and how a recording's kind is told from its content.
import WakeHCI
import WakeModel
import WakeTrace

public struct ImportResult: Sendable {
    public struct Counts: Hashable, Sendable {
        public var records = 0
        public var notifications = 0
        public var indications = 0
        /// LE links, those included that were up before the capture began.
        public var links = 0
        /// BR/EDR links, which are not imported.
        public var classicLinks = 0
        public init() {}
    }

    public var header: TraceHeader
    public var operations: [TraceOperation]
    /// Sentences for the person who imports; those about a place in the file name its offset.
    public var warnings: [String]
    public var counts: Counts
    /// Where the file was cut, when only the part before that was wanted.
    public var cut: ImportError?

    public init(
        header: TraceHeader, operations: [TraceOperation], warnings: [String], counts: Counts, cut: ImportError?
    ) {
        self.header = header
        self.operations = operations
        self.warnings = warnings
        self.counts = counts
        self.cut = cut
    }

    /// The whole trace in its canonical form.
    public var trace: [UInt8] {
        var bytes: [UInt8] = []
        var writer = TraceWriter(header: header)
        writer.writeHeader(to: &bytes)
        for operation in operations { writer.write(operation, to: &bytes) }
        writer.writeEnd(to: &bytes)
        return bytes
    }
}

/// Why a recording cannot be imported, and the offset in bytes at which that shows.
public struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    public var offset: Int
    public var reason: String

    public init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    public var description: String { "at byte \(offset): \(reason)" }
}

public enum TraceImport {
    public enum Kind: Hashable, Sendable {
        case btsnoop
    }

    /// Imports a recording of any kind that is known. `partial` takes the part before a cut instead of an error.
    public static func run(_ bytes: [UInt8], partial: Bool = false) throws(ImportError) -> ImportResult {
        switch try detect(bytes) {
        case .btsnoop: try BtsnoopImport.run(bytes, partial: partial)
        }
    }

    /// Tells a recording's kind from its first bytes. Throws for kinds that cannot be imported yet, naming them.
    public static func detect(_ bytes: [UInt8]) throws(ImportError) -> Kind {
        let magic = Array("btsnoop\0".utf8)
        if bytes.starts(with: magic) { return .btsnoop }
        guard !bytes.isEmpty else { throw ImportError(offset: 0, reason: "the file is empty") }
        if magic.starts(with: bytes) {
            throw ImportError(
                offset: bytes.count, reason: "the file was cut inside the first 8 bytes of a btsnoop capture")
        }
        guard let found = unsupported(bytes) else {
            throw ImportError(offset: 0, reason: "this is no recording that is known; btsnoop captures can be imported")
        }
        throw ImportError(offset: 0, reason: "this is \(found), which cannot be imported yet; btsnoop captures can")
    }

    private static func unsupported(_ bytes: [UInt8]) -> String? {
        let head = Array(bytes.prefix(4))
        let pcap: [[UInt8]] = [
            [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0xc3, 0xd4], [0x4d, 0x3c, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d],
        ]
        if head == [0x0a, 0x0d, 0x0d, 0x0a] { return "a pcapng capture" }
        if pcap.contains(head) { return "a pcap capture" }
        return unsupportedText(String(decoding: bytes.prefix(4096), as: UTF8.self)) ?? packetLogger(bytes)
    }

    private static func unsupportedText(_ text: String) -> String? {
        if text.hasPrefix("wakebridge-trace") { return "a trace already" }
        if text.hasPrefix("# EVEMU") || text.hasPrefix("E: 0") { return "an evemu recording" }
        let lines = text.split(whereSeparator: \.isNewline)
        if lines.contains(where: { $0.hasPrefix("P: /devices/") || $0.hasPrefix("@DEV ") }) {
            return "a umockdev recording"
        }
        if lines.contains(where: { $0.hasPrefix("R: ") || $0.hasPrefix("I: ") }) { return "a hid-recorder dump" }
        if lines.prefix(3).contains(where: { $0.hasPrefix("$G") }) { return "an NMEA log" }
        return nil
    }

    /// PacketLogger has no magic: a length, eight bytes of time, and a type that is one of few.
    private static func packetLogger(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 13, bytes[0] == 0, bytes[1] == 0, bytes[3] >= 9 || bytes[2] > 0 else { return nil }
        return bytes[12] <= 3 || bytes[12] >= 0xf7 ? "a PacketLogger capture" : nil
    }
}
