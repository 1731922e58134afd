// Detects the format of a recording from its first bytes, whatever its name is.
import WakeHCI

public enum RecordingKind: Hashable, Sendable {
    case btsnoop, pcap, pcapng, packetLogger
    case gzip, zip, bugReport
    case evemu, libinput, hidRecorder, hidDescriptor
    case described, script, ioctl
    case nmea, serial
    case nrfConnect, gatttool, bluetoothctl

    /// Bytes that are looked at; a recording is known by less.
    static let headBytes = 64 << 10

    public var words: String {
        switch self {
        case .btsnoop: "btsnoop"
        case .pcap: "pcap"
        case .pcapng: "pcapng"
        case .packetLogger: "PacketLogger"
        case .gzip: "gzip"
        case .zip: "zip archive"
        case .bugReport: "Android bug report"
        case .evemu: "evemu"
        case .libinput: "libinput record"
        case .hidRecorder: "hid-recorder"
        case .hidDescriptor: "HID report descriptor"
        case .described: "description of devices"
        case .script: "umockdev script"
        case .ioctl: "umockdev ioctl"
        case .nmea: "NMEA log"
        case .serial: "serial log"
        case .nrfConnect: "nRF Connect log"
        case .gatttool: "gatttool log"
        case .bluetoothctl: "bluetoothctl log"
        }
    }

    /// The kinds that can be imported, for a sentence.
    static let known =
        "btsnoop, pcap, pcapng, PacketLogger, Android bug reports, umockdev, evemu, libinput record, hid-recorder, NMEA, "
        + "and logs of nRF Connect, gatttool and bluetoothctl; --serial imports any other bytes as those of a serial line"
}

/// The first bytes of a recording.
struct RecordingHead {
    private let bytes: ArraySlice<UInt8>
    /// Whether they are all of it.
    private var isWhole = false
    /// Why the rest of it cannot be read.
    private var fault: ImportError?

    init(_ cursor: inout ByteCursor) {
        do throws(ImportError) { isWhole = try !cursor.has(RecordingKind.headBytes) } catch { fault = error }
        bytes = cursor.peek(RecordingKind.headBytes)
    }

    var isGzip: Bool { bytes.number(0, 2, .big) == 0x1f8b }

    /// Throws, with its name, for a format that cannot be imported.
    func kind() throws(ImportError) -> RecordingKind {
        guard !bytes.isEmpty else { throw fault ?? ImportError(offset: 0, reason: "the file is empty") }
        if let kind = byMagic ?? byText { return kind }
        if let cut = cutMagic { throw cut }
        if let found = unsupported {
            throw ImportError(offset: 0, reason: "this is \(found), which cannot be imported")
        }
        if PacketLoggerReader.order(of: bytes, isWhole: isWhole) != nil { return .packetLogger }
        if ReportCutter(bytes) != nil, isWhole { return .hidDescriptor }
        if let fault { throw fault }
        throw ImportError(offset: 0, reason: "this is no recording that is known; known are \(RecordingKind.known)")
    }

    private static let btsnoop = Array("btsnoop\0".utf8)

    private var byMagic: RecordingKind? {
        if bytes.starts(with: Self.btsnoop) { return .btsnoop }
        if PcapReader.form(bytes) != nil { return .pcap }
        if isGzip { return .gzip }
        switch bytes.number(0, 4, .big) {
        case 0x0a0d_0d0a: return .pcapng
        case 0x504b_0304: return .zip
        default: return nil
        }
    }

    /// A file of a few bytes that begin a known format.
    private var cutMagic: ImportError? {
        guard bytes.count < 8, Self.btsnoop.starts(with: bytes) else { return nil }
        let reason = "the file was cut inside the first 8 bytes of a btsnoop capture"
        return ImportError(offset: bytes.count, reason: reason, isCut: true)
    }

    private var unsupported: String? {
        let first = lines.first
        if first?.hasPrefix("wakebridge-trace") == true { return "a trace already" }
        if let first, first.hasPrefix("("), first.contains("#"), first.contains(") ") {
            return "a log of candump, and there is no source for a CAN bus"
        }
        if first?.hasPrefix("--------- beginning of ") == true { return "a log of Android, which has no values" }
        return nil
    }
}

// Formats that are text.
extension RecordingHead {
    /// The first lines that are not empty, without the last, which may be cut.
    private var lines: [ArraySlice<UInt8>] {
        let all = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 400).prefix(400).map(\.withoutStyle)
        return all.filter { !$0.isEmpty }
    }

    private func has(_ prefix: StaticString) -> Bool { lines.contains { $0.hasPrefix(prefix) } }

    private var byText: RecordingKind? {
        let lines = lines
        guard let first = lines.first else { return nil }
        if first.hasPrefix("nRF Connect, ") { return .nrfConnect }
        if bytes.contains("--- BEGIN:BTSNOOP_LOG_SUMMARY") || bytes.prefix(4_096).contains("== dumpstate: ") {
            return .bugReport
        }
        return byInput(lines) ?? byNode(lines) ?? byLog(lines)
    }

    private func byInput(_ lines: [ArraySlice<UInt8>]) -> RecordingKind? {
        if lines[0].hasPrefix("# EVEMU") { return .evemu }
        if lines.prefix(20).contains(where: { $0.hasPrefix("libinput:") || $0.hasPrefix("- node: /dev/input") }) {
            return .libinput
        }
        if has("R: "), has("E: ") || has("I: ") || has("N: "), !has("P: /devices/") { return .hidRecorder }
        let event = lines.first { $0.hasPrefix("E: ") }
        guard let event, has("N: ") || lines[0].hasPrefix("E: "), !has("P: /devices/") else { return nil }
        var words = LineWords(event.dropFirst(3))
        return words.seconds() != nil && words.hexadecimal() != nil ? .evemu : nil
    }

    private func byNode(_ lines: [ArraySlice<UInt8>]) -> RecordingKind? {
        if has("P: /devices/") || lines.contains(where: { $0.contains("looking at device '/devices/") }) {
            return .described
        }
        let ioctl: [StaticString] = ["@DEV ", "EVIOC", "USBDEVFS_", "HIDIOC"]
        if ioctl.contains(where: { lines[0].hasPrefix($0) }) { return .ioctl }
        let isScript = lines.prefix(8).allSatisfy { line in
            if line.hasPrefix("#") || line.hasPrefix("d 0 /dev/") { return true }
            var words = LineWords(line.dropFirst(2))
            return line.hasPrefix("r ") && words.decimal() != nil || line.hasPrefix("w ")
        }
        return isScript && lines.contains { !$0.hasPrefix("#") } ? .script : nil
    }

    private func byLog(_ lines: [ArraySlice<UInt8>]) -> RecordingKind? {
        let spoken = lines.first { !$0.hasPrefix("#") }
        if let spoken, spoken.hasPrefix("$") || spoken.hasPrefix("!"), spoken.dropFirst().contains(UInt8(ascii: ",")) {
            return .nmea
        }
        if lines.contains(where: { $0.contains("[CHG] Attribute /") || $0.contains("[NEW] Characteristic") }) {
            return .bluetoothctl
        }
        let marks = [
            "Notification handle = 0x", "Indication   handle = 0x", "Indication handle = 0x", "char value handle",
        ]
        return lines.contains { line in marks.contains { line.contains($0) } } ? .gatttool : nil
    }
}
