// What a device of a capture is known by: all that it broadcasts, and not the first of it alone.
import Testing
import WakeCapture
import WakeModel
import WakeTrace

@Suite("Imported broadcasts")
struct BroadcastImportTests {
    private static let words = "0201060303" + "0a18"
    private static let values = "0aff88ec0068ffe9085c02"
    private static let beacon = "02010607ff4c0002010203"

    /// A capture of one device that says these.
    private func imported(_ advertisements: [String]) throws -> ImportResult {
        let trace = """
            wakebridge-trace 1
            clock 2026-11-21T07:42:46.727125Z
            device 1 bluetooth E3:10:20:30:40:50
            \(advertisements.map { "+1 1 data advertisement \($0)" }.joined(separator: "\n"))
            end

            """
        return try reimported(trace)
    }

    private func reimported(_ trace: String) throws -> ImportResult {
        let (header, operations) = try parsed(trace)
        var terms = ImportTerms()
        terms.takesBroadcasts = true
        return try TraceImport.run(CaptureExport.run(header, operations).capture, terms)
    }

    private func parsed(_ trace: String) throws -> (TraceHeader, [TraceOperation]) {
        var reader = TraceReader(bytes: Array(trace.utf8))
        let header = try reader.header()
        var operations: [TraceOperation] = []
        while let operation = try reader.next() { operations.append(operation) }
        return (header, operations)
    }

    @Test("data in a scan response are among what it is known by, and each advertisement is a value of its own")
    func scanResponse() throws {
        let result = try imported([Self.words, Self.values, Self.words, Self.values])
        #expect(result.counts.advertisements == 4 && result.header.devices.count == 1)
        #expect(result.header.devices.first?.advertisement.hexadecimal == Self.words + Self.values)
        #expect(result.header.devices.first?.services == [BluetoothUUID(short: 0x180a)])
    }

    @Test("a beacon that comes first does not hide what the maker sends beside it")
    func beaconFirst() throws {
        let result = try imported([Self.beacon, Self.words, Self.values, Self.beacon])
        #expect(result.header.devices.first?.advertisement.hexadecimal == Self.beacon + Self.values)
    }

    @Test("two characteristics of one UUID stay two, in a trace, in a capture, and when it is imported")
    func twins() throws {
        let lines = ["+1 1 data 2a19#2 59", "+1 1 data 2a19 31", "+1 1 data 2a19#2 58"]
        let trace = """
            wakebridge-trace 1
            clock 2026-11-21T07:42:46.727125Z
            device 1 bluetooth E3:10:20:30:40:50
            +0 1 connect
            \(lines.joined(separator: "\n"))
            end

            """
        let (_, operations) = try parsed(String(decoding: try reimported(trace).trace, as: UTF8.self))
        let names = operations.compactMap { operation in
            if case .data(let channel, let bytes)? = operation.kind {
                channel.wireName.text + bytes.hexadecimal
            } else {
                nil
            }
        }
        #expect(names == ["2a19#259", "2a1931", "2a19#258"])
    }
}
