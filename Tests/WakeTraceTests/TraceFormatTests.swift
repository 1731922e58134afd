// The text format: what is read, what is refused and where, and that writing is the inverse of reading.
import TestBench
import Testing
import WakeModel
import WakeTrace

private let prologue = """
    wakebridge-trace 1
    clock 2026-11-21T07:42:46.727125Z
    device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" name="Polar \\"H10\\"" service=180d service=180f
    device 7 accessory 2341:0043:7583 alias="sensor" property.ID_VENDOR_ID="2341"

    """

private let everything =
    prologue + """
        +0.000000 1 connect
        +0.812000 1 data 2a37 10495403
        +0.000001 1 data 49535343-1e4d-4bd9-ba61-23c647249616 f0bc
        +0.000000001 7 data serial 24
        +0.000000 7 data report-3
        +0.000000 7 data input 00
        +0.000000 1 data advertisement 0201060416090f64
        +1.004000 1 disconnect reason=remote-user folded=2
        +0.000000 1 connect folded=4
        +0.000000 1 attention bond-invalid "Pair it again,\\nplease.\\x01"
        +3.000000 1 gap link count=3 for=1.500000
        +0.000000 7 gap overflow
        end

        """

private func read(_ text: String, chunk: Int = .max) throws -> (TraceHeader, [TraceOperation]) {
    var rest = Array(text.utf8)[...]
    var reader = TraceReader(supplyingChunks: {
        let piece = Array(rest.prefix(chunk))
        rest = rest.dropFirst(piece.count)
        return piece.isEmpty ? nil : piece
    })
    let header = try reader.header()
    var operations: [TraceOperation] = []
    while let operation = try reader.next() { operations.append(operation) }
    return (header, operations)
}

private func write(_ header: TraceHeader, _ operations: [TraceOperation]) -> String {
    String(decoding: TraceWriter.whole(header, operations), as: UTF8.self)
}

@Test("A canonical trace with every operation is read and written back byte for byte")
func roundTrip() throws {
    let (header, operations) = try read(everything)
    #expect(operations.count == 12)
    #expect(header.devices[0].name == "Polar \"H10\"")
    #expect(header.devices[1].uri == "/accessory/2341:0043:7583")
    let port = TraceDevice(number: 1, kind: .externalAccessory, address: "00:1D:FD:00:00:01")
    #expect(port.uri == "/bluetooth/00:1D:FD:00:00:01")
    #expect(operations[1].kind == .data(.characteristic(BluetoothUUID(short: 0x2a37)), [0x10, 0x49, 0x54, 0x03]))
    #expect(operations[6].kind == .data(.advertisement, [2, 1, 6, 4, 0x16, 9, 0x0f, 0x64]))
    #expect(write(header, operations) == everything)
}

@Test("A Bluetooth address means the same device in capitals and without, as a peripheral and as a serial port")
func capitals() throws {
    for mode in ["bluetooth", "accessory"] {
        let text = "wakebridge-trace 1\nclock 2026-11-21T07:42:46Z\ndevice 1 \(mode) 00:1d:fd:00:00:0a\nend\n"
        #expect(try read(text).0.devices[0].uri == "/bluetooth/00:1D:FD:00:00:0A")
    }
}

@Test("The size of the chunks changes nothing", arguments: [1, 2, 7, 64])
func chunks(size: Int) throws {
    #expect(try read(everything, chunk: size).1 == read(everything).1)
}

@Test("A trace cut at any byte before its last line feed is an error with a line number")
func truncation() throws {
    let bytes = Array(everything.utf8)
    for length in 0..<bytes.count {
        #expect(throws: TraceError.self) { try read(String(decoding: bytes.prefix(length), as: UTF8.self)) }
    }
}

@Test(
    "A faulty operation is named by line, column and reason",
    arguments: [
        ("+0 1 dta 2a37 00", 6, "did you mean `data`?"), ("+0 2 connect", 4, "device 2 is not declared"),
        ("+-1 1 connect", 2, "negative"), ("-1 1 connect", 1, "negative"), ("+0 1 data 2a37 0", 16, "half a byte"),
        ("+0 1 data 2a37 0g", 16, "half a byte"), ("+0 1 data 2a37 zz", 16, "no hexadecimal digit"),
        ("+0 1 data 2a3 00", 11, "no channel"), ("+0 1 data report-256 00", 11, "no channel"),
        ("+0 1 data advertisment 00", 11, "`advertisement`, `report-0`"),
        ("+0 1 data serial-cut 00", 11, "`serial-cut-short`"),
        ("+0 1 disconnect", 16, "names its `reason=`"), ("+0 1 disconnect raeson=x", 17, "did you mean `reason`?"),
        ("+0 1 disconnect reason=a reason=b", 26, "is there twice"), ("+0 1 gap lnk", 10, "did you mean `link`?"),
        ("+0 1 gap link count=-1", 21, "whole number"), ("+0 1 attention pairing", 23, "sentence"),
        ("+0 1 attention pairing \"x", 24, "no closing"), ("+999999999999 1 connect", 2, "over ten years"),
        ("+400000000 1 connect", 2, "over ten years"), ("+1.0000000001 1 connect", 13, "nine digits"),
        ("device 2 bluetooth C0:F1:F2:F3:F4:02", 1, "before the first operation"),
        ("+0 1 connect x", 14, "unknown key"), ("+0 1 connect folded", 20, "`=`"),
        ("+0 1 connect\r", 13, "carriage return"), ("+0 99999 connect", 4, "over 65535"), ("ned", 1, "`end`"),
        ("+1e3 1 connect", 2, "must be seconds"), ("+0 1", 5, "operation is missing"),
        ("+0 1 connect folded=", 21, "whole number"),
    ])
func faults(line: String, column: Int, reason: String) throws {
    let error = thrown(TraceError.self) { try read(prologue + "+0 1 connect\n" + line + "\nend\n") }
    #expect(error?.line == 6)
    #expect(error?.column == column, "\(error?.description ?? "")")
    #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
}

/// Typed, or Swift 6.0 takes too long to find out.
private let faultyHeaders: [(text: String, reason: String)] = [
    ("hello\n", "no trace"), ("wakebridge-trace 2\n", "not known"),
    ("wakebridge-trace 1\nclock yesterday\n", "no time"),
    ("\(prologue)device 1 bluetooth C0:F1:F2:F3:F4:02\n", "declared twice"),
    ("\(prologue)device 0 bluetooth C0:F1:F2:F3:F4:02\n", "start at 1"),
    ("\(prologue)device 2 bluetoth C0:F1:F2:F3:F4:02\n", "did you mean `bluetooth`?"),
    ("\(prologue)device 2 bluetooth C0:F1\n", "no address"),
    ("\(prologue)device 2 bluetooth C0:F1:F2:F3:F4:02 alia=x\n", "did you mean `alias`?"),
    ("\(prologue)device 2 bluetooth C0:F1:F2:F3:F4:02 service=18\n", "no UUID"),
    ("\(prologue)end\n+0 1 connect\n", "may follow `end`"),
]

@Test("A line over 128 KiB is refused")
func longLine() throws {
    let line = "+0 1 data 2a37 " + String(repeating: "00", count: 70_000)
    let error = thrown(TraceError.self) { try read("\(prologue)\(line)\nend\n") }
    #expect(error?.reason.contains("128 KiB") == true)
}

@Test("A faulty header is refused with its reason", arguments: faultyHeaders)
func headerFaults(text: String, reason: String) throws {
    let error = thrown(TraceError.self) { try read(text) }
    #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
}

@Test("Data too long for one line is written as several and reads back whole")
func longData() throws {
    let (header, _) = try read(everything)
    let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0) }
    let text = write(header, [TraceOperation(offset: .zero, device: 1, kind: .data(.serial, bytes))])
    let parts = try read(text).1.map { operation -> [UInt8] in
        if case .data(_, let part) = operation.kind { part } else { [] }
    }
    #expect(parts.count == 3)
    #expect(parts.flatMap { $0 } == bytes)
}
