// Traces, what is made of them, and what the profiles of this checkout make of the messages in them.
import DeviceLibrary
import WakeCapture
import WakeModel
import WakeProfiles
import WakeTrace
import WakeTraceEditing

enum TraceTarget: String, CaseIterable {
    /// Read, and written again.
    case trace
    /// Cut, masked, shifted, merged and compared.
    case remade = "trace-remade"
    case export = "trace-export"
    /// Every message heard and decoded by the profile of its device.
    case decoded = "trace-decoded"

    /// Ends the program where the trace is in error.
    static func requireReadable(_ bytes: [UInt8]) {
        var reader = TraceReader(bytes: bytes)
        do {
            while try reader.next() != nil {}
        } catch { preconditionFailure("a trace that was written does not read: \(error)") }
    }
}

extension TraceTarget: OutsideReader {
    var files: [String] { ["Devices/*/recording.trace"] }

    /// Each shipped device sends its published messages.
    func beginnings() throws -> [[UInt8]] { try ShippedLibrary.devices.map { try PublishedTrace(of: $0).text } }

    func read(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .trace: Self.writeAgain(bytes)
        case .remade: Self.remake(bytes)
        case .export: Self.export(bytes)
        case .decoded: Self.decode(bytes)
        }
        return true
    }

    /// Nil where it is in error.
    private static func contents(of bytes: [UInt8]) -> (header: TraceHeader, operations: [TraceOperation])? {
        var reader = TraceReader(bytes: bytes)
        var operations: [TraceOperation] = []
        do {
            let header = try reader.header()
            while let operation = try reader.next() { operations.append(operation) }
            return (header, operations)
        } catch { return nil }
    }

    private static func writeAgain(_ bytes: [UInt8]) {
        guard let (header, operations) = contents(of: bytes) else { return }
        let once = TraceWriter.whole(header, operations)
        requireReadable(once)
        guard let (again, same) = contents(of: once) else { return }
        let twice = TraceWriter.whole(again, same)
        precondition(twice == once, "a trace that was written is written otherwise the second time")
        _ = (try? TraceContents(reading: TraceReader(bytes: bytes)))?.subjects
    }

    private static func remake(_ bytes: [UInt8]) {
        let reader = TraceReader(bytes: bytes)
        if var cut = try? TraceCut(reader, from: .elapsed(.seconds(1)), until: .elapsed(.seconds(20)), only: [0]) {
            while (try? cut.next()) != nil {}
        }
        if var mask = try? TraceMask(reader, TraceMask.Terms(words: ["strap", "1a86"])) {
            while (try? mask.next()) != nil {}
        }
        if var shift = try? TraceShift(reader, .by(.seconds(86_400))) { while (try? shift.next()) != nil {} }
        if var merge = try? TraceMerge([reader, reader]) { while (try? merge.next()) != nil {} }
        var other = reader
        let names = (try? other.header())?.devices.map(\.uri) ?? []
        // Two devices of one identity are one to the comparison.
        if Set(names).count == names.count, let difference = try? TraceDifference(reader, reader) {
            precondition(difference.isEmpty, "a trace differs from itself")
        }
    }

    private static func export(_ bytes: [UInt8]) {
        guard let (header, operations) = contents(of: bytes) else { return }
        for form in CaptureForm.allCases {
            guard let exported = try? CaptureExport.run(header, operations, as: form) else { continue }
            _ = try? TraceImport.run(exported.capture, partial: true)
        }
    }

    private static func decode(_ bytes: [UInt8]) {
        var reader = TraceReader(bytes: bytes)
        guard let header = try? reader.header() else { return }
        let players = header.devices.map { TracedDevice($0) }
        var memories = players.map { _ in DeviceMemory() }
        while let operation = try? reader.next() {
            guard case .device(let place, .data(let channel, let message)) = operation.subject else { continue }
            let now = Instant(nanoseconds: operation.offset.nanoseconds)
            players[place].decode(message, from: channel, at: now, after: &memories[place])
        }
    }
}

/// A device of a trace, with the profile that it gets.
private struct TracedDevice {
    private let decoder: ProfileDecoder?
    private let sender: DeviceMemory.Sender

    init(_ device: TraceDevice) {
        let library = ShippedLibrary.library
        decoder = library.match(
            kind: device.kind, services: device.services, name: device.name,
            properties: device.properties.map { ($0.key, $0.value) }, advertisement: device.advertisement
        ).map { library.decoder($0) }
        let address = device.address.split(separator: ":").compactMap { UInt8($0, radix: 16) }
        sender = DeviceMemory.Sender(
            address: address.count == 6 ? address : [], key: FuzzedKey.bytes,
            reportDescriptor: device.reportDescriptor)
    }

    func decode(_ message: [UInt8], from channel: Channel, at now: Instant, after memory: inout DeviceMemory) {
        guard let decoder else { return }
        let heard = decoder.hear(message, from: channel, of: sender, at: now, after: &memory)
        var writer = JSONWriter()
        let isDecoded = (try? decoder.decode(message, from: channel, heard: heard, into: &writer)) ?? false
        guard isDecoded else { return }
        precondition((try? JSONValue(parsing: writer.bytes)) != nil, "a decoded value is no JSON")
    }
}
