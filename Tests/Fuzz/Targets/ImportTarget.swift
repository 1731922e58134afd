// Imports of recordings, a target for each format: an import is an error, or a trace that reads back.
import WakeCapture
import WakeTrace

enum ImportTarget: String, CaseIterable {
    case btsnoop, pcap, pcapng
    case packetLogger = "packetlogger"
    case gzip, zip
    case bugReport = "bug-report"
    case evemu, libinput
    case hidRecorder = "hid-recorder"
    case hidDescriptor = "hid-descriptor"
    case described, script, ioctl, nmea, serial
    case nrfConnect = "nrf-connect"
    case gatttool, bluetoothctl

    private var kind: RecordingKind {
        switch self {
        case .btsnoop: .btsnoop
        case .pcap: .pcap
        case .pcapng: .pcapng
        case .packetLogger: .packetLogger
        case .gzip: .gzip
        case .zip: .zip
        case .bugReport: .bugReport
        case .evemu: .evemu
        case .libinput: .libinput
        case .hidRecorder: .hidRecorder
        case .hidDescriptor: .hidDescriptor
        case .described: .described
        case .script: .script
        case .ioctl: .ioctl
        case .nmea: .nmea
        case .serial: .serial
        case .nrfConnect: .nrfConnect
        case .gatttool: .gatttool
        case .bluetoothctl: .bluetoothctl
        }
    }
}

extension ImportTarget: OutsideReader {
    var name: String { "import-\(rawValue)" }

    var files: [String] {
        switch self {
        case .btsnoop: ["captures/bluetooth/*.btsnoop"]
        case .pcapng: ["captures/usb/*.pcapng"]
        case .evemu: ["captures/input/*.events"]
        case .hidRecorder: ["captures/hid/*.hidrecord"]
        case .hidDescriptor: ["captures/hid/*.descriptor"]
        case .described: ["captures/hid/*.udevadm", "captures/usb/*.umockdev", "captures/usb/*.device"]
        case .script: ["captures/usb/*.script", "captures/usb/*.script.64"]
        case .ioctl: ["captures/usb/*.ioctl"]
        case .nmea, .serial: ["captures/serial/*.nmea"]
        case .pcap, .packetLogger, .gzip, .zip, .bugReport, .libinput, .nrfConnect, .gatttool, .bluetoothctl: []
        }
    }

    private var terms: ImportTerms {
        var terms = ImportTerms()
        terms.isSerial = self == .serial
        terms.takesBroadcasts = true
        return terms
    }

    func accepts(_ bytes: [UInt8]) -> Bool { Self.imported(HeldBytes(bytes), terms)?.kind == kind }

    func read(_ bytes: [UInt8]) -> Bool {
        var terms = terms
        let whole = Self.imported(HeldBytes(bytes), terms)
        terms.partial = true
        let inPieces = Self.imported(PieceSupply(bytes), terms)
        if let whole {
            precondition(whole.trace == inPieces?.trace, "what is imported depends on how its bytes arrive")
        }
        return (whole ?? inPieces).map { $0.kind == kind } ?? true
    }

    private static func imported(
        _ supply: some ByteSupply, _ terms: ImportTerms
    ) -> (trace: [UInt8], kind: RecordingKind?)? {
        var recording = TraceImport(terms)
        let trace = HeldTrace()
        let imported: Imported
        do {
            try recording.add(supply)
            imported = try recording.finish()
        } catch { return nil }
        do { try imported.write(to: trace) } catch { preconditionFailure("the trace cannot be written: \(error)") }
        TraceTarget.requireReadable(trace.bytes)
        return (trace.bytes, imported.parts.first?.kind)
    }
}

/// The bytes in pieces so small that hardly anything lies in one of them.
private final class PieceSupply: ByteSupply {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(61) }
        return Array(rest.prefix(61))
    }
}
