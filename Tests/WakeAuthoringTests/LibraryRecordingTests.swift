// The recordings of the device library, each played without a handler: a new device needs no new test code.
import TestBench
import Testing
import WakeAuthoring
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

/// What was recorded of a device, and what came of it when that was written down.
struct LibraryRecording {
    let folder: String

    init(of name: String) { folder = "\(ShippedLibrary.folder)/\(name)" }

    var isThere: Bool { File.exists("\(folder)/recording.trace") }
    var expected: [UInt8] { bytes(of: "\(folder)/expected.ndjson") }

    /// Whether it was played with the report descriptor that a message comes with.
    func isOf(_ descriptor: [UInt8]) -> Bool {
        descriptor.isEmpty || text(of: "\(folder)/recording.trace").contains("=\(descriptor.hexadecimal)\n")
    }

    /// As `wakebridge replay` prints it.
    func replayed() throws -> [UInt8] {
        let reader = TraceReader(bytes: bytes(of: "\(folder)/recording.trace"))
        let replay = try VirtualReplay(reader, profiles: ShippedLibrary.library)
        var printed: [UInt8] = []
        let outcome = try replay.play { printed += $0 }
        #expect(outcome.deadLetters + outcome.quarantines == 0)
        return printed
    }

    /// The data of what devices said.
    func said() throws -> [JSONValue] {
        try expected.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: Array($0)) }.filter {
            $0["type"]?.string == "wakebridge.device.data"
        }.compactMap { $0["data"] }
    }
}

extension Vector {
    /// Its value, where that needs neither a key, which a trace does not hold, nor what came before.
    fileprivate var ownValue: JSONValue? {
        guard pause == nil, sender.key == nil else { return nil }
        guard case .value(let value) = outcome else { return nil }
        return value
    }

    /// Whether the data of an event are this message.
    fileprivate func isSaid(by data: JSONValue) -> Bool {
        guard let raw = data["raw"]?.string, let stream = (data["characteristic"] ?? data["stream"])?.string else {
            return false
        }
        switch origin {
        case .channel(let channel): return stream == channel.wireName.text && raw == Array(pieces.joined()).hexadecimal
        case .part(let part):
            return stream == Channel.advertisement.wireName.text
                && pieces.allSatisfy { raw.contains(part.structure(with: $0).hexadecimal) }
        }
    }
}

@Suite("The recordings of the device library")
struct LibraryRecordingTests {
    private static let recorded = ShippedLibrary.devices.filter { LibraryRecording(of: $0).isThere }

    /// Devices of whose recording no event has the bytes of a message as it was published, and why.
    private static let otherwise = [
        "barcode-scanner": "a line ends as Enter goes down, and its going up comes with the next",
        "d0-meter": "the framing takes away the end of a message",
        "heart-rate-monitor": "it is recorded at length, with a heart of its own",
        "linky-tic": "the framing takes away the end of a message",
        "nordic-uart": "the framing takes away the end of a message",
        "rfid-reader": "a line ends as Enter goes down, and its going up comes with the next",
        "sps30": "the framing takes away the ends and escapes of a message",
        "victron-instant-readout": "it encrypts, and a trace holds no key",
    ]

    @Test("every device with published messages has a recording")
    func isWhole() {
        let published = ShippedLibrary.devices.filter { File.exists("\(ShippedLibrary.folder)/\($0)/vectors.json5") }
        #expect(published.count > 280 && published.filter { !LibraryRecording(of: $0).isThere } == [])
    }

    @Test("a recording comes out as the event lines written down beside it", arguments: recorded)
    func comesOut(_ name: String) throws {
        let recording = LibraryRecording(of: name)
        let replayed = try recording.replayed()
        #expect(!replayed.isEmpty && replayed == recording.expected)
    }

    @Test("what a device says in its recording has the value that was published for it", arguments: recorded)
    func isAsPublished(_ name: String) throws {
        let recording = LibraryRecording(of: name)
        let said = try recording.said()
        var count = 0
        for vector in try ShippedLibrary.vectors(of: name) {
            guard let value = vector.ownValue, recording.isOf(vector.sender.reportDescriptor) else { continue }
            for data in said where vector.isSaid(by: data) {
                #expect(Self.isHeld(value, in: data["value"]), "vector \(vector.number)")
                count += 1
            }
        }
        #expect((count > 0) == (Self.otherwise[name] == nil), "\(count) of its events are published messages")
    }

    /// A rate of several messages may stand beside what was published of one.
    private static func isHeld(_ published: JSONValue, in said: JSONValue?) -> Bool {
        guard case .object(let members) = published else { return published == said }
        return members.allSatisfy { said?[$0.name] == $0.value }
    }
}
