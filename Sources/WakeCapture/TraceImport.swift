// The result of importing a foreign recording, and how a recording's format is recognised from its content.
import WakeHCI
import WakeModel
import WakeTrace

public struct ImportResult: Sendable {
    public struct Counts: Hashable, Sendable {
        public var records = 0
        public var notifications = 0
        public var indications = 0
        /// LE links, with those that were up before the capture began.
        public var links = 0
        /// BR/EDR links, which are not imported.
        public var classicLinks = 0
    }

    public var header: TraceHeader
    public var operations: [TraceOperation]
    /// Sentences for the person who imports; a sentence about a place in the file names its offset.
    public var warnings: [String]
    public var counts: Counts
    /// The offset at which the file was cut, where only the part before it was imported.
    public var cut: ImportError?

    /// The whole trace in canonical form.
    public var trace: [UInt8] {
        var bytes: [UInt8] = []
        var writer = TraceWriter(header: header)
        writer.writeHeader(to: &bytes)
        for operation in operations { writer.write(operation, to: &bytes) }
        writer.writeEnd(to: &bytes)
        return bytes
    }
}

/// Why a recording cannot be imported, and at which offset in bytes.
public struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    public var offset: Int
    public var reason: String

    public var description: String { "at byte \(offset): \(reason)" }
}

public enum TraceImport {
    public enum Kind: Hashable, Sendable {
        case btsnoop
    }

    /// Imports a recording of any known format. `partial` imports the part before a cut instead of throwing.
    public static func run(_ bytes: [UInt8], partial: Bool = false) throws(ImportError) -> ImportResult {
        switch try detect(bytes) {
        case .btsnoop: try BtsnoopImport.run(bytes, partial: partial)
        }
    }

    /// Recognises a recording's format from its first bytes. Throws, with its name, for a format that cannot be imported.
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

    /// PacketLogger has no magic number: a length, eight bytes of time, and one of a few types.
    private static func packetLogger(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 13, bytes[0] == 0, bytes[1] == 0, bytes[3] >= 9 || bytes[2] > 0 else { return nil }
        return bytes[12] <= 3 || bytes[12] >= 0xf7 ? "a PacketLogger capture" : nil
    }
}
