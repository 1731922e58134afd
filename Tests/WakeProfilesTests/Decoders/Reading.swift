// How tests ask a named decoder: one message in hexadecimal, its value as JSON text or its fault as a sentence.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

/// A decoder with what it remembers, as a device has one.
struct Listener {
    let decoder: NamedDecoder
    var state: DecoderState
    var address: [UInt8] = []
    var key: [UInt8]?

    init(_ decoder: NamedDecoder, address: String = "", key: String? = nil, _ settings: DecoderSettings = .init())
        throws
    {
        self.decoder = decoder
        self.address = try #require([UInt8](hexadecimal: address.filter { $0 != ":" }))
        self.key = try key.map { try #require([UInt8](hexadecimal: $0)) }
        state = try decoder.begin(settings)
    }

    /// Nil where the message has no value.
    mutating func hear(
        _ bytes: [UInt8], _ origin: DecoderMessage.Origin, at heard: Instant = .zero
    ) -> String? {
        let message = DecoderMessage(bytes: bytes, origin: origin, address: address, key: key, heard: heard)
        var json: [UInt8] = []
        do throws(DecoderFault) {
            guard try decoder.run(over: message, with: &state, into: &json) else { return nil }
            return String(decoding: json, as: UTF8.self)
        } catch {
            #expect(json.isEmpty, "a fault must leave nothing written")
            return error.description
        }
    }

    mutating func hear(
        _ hexadecimal: String, _ origin: DecoderMessage.Origin, at heard: Instant = .zero
    ) throws -> String? {
        hear(try #require([UInt8](hexadecimal: hexadecimal.filter { $0 != " " })), origin, at: heard)
    }
}

extension DecoderMessage.Origin {
    static func service(_ short: UInt32) -> Self { .serviceData(BluetoothUUID(short: short)) }
}

/// What ten thousand random messages, and the given ones with random bytes spoilt, make of a decoder: a value that is JSON, or a
/// sentence. Returns how many had a value.
@discardableResult
func expectHardy(
    _ decoder: NamedDecoder, _ origins: [DecoderMessage.Origin], seeds: [String], address: String = "",
    key: String? = nil,
    _ settings: DecoderSettings = .init(), sourceLocation: SourceLocation = #_sourceLocation
) throws -> Int {
    var (dice, values) = (Dice(26), 0)
    let seeds = try seeds.map { try #require([UInt8](hexadecimal: $0)) }
    var listener = try Listener(decoder, address: address, key: key, settings)
    for round in 0..<10_000 {
        var bytes = (0..<dice.below(64)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
        if !seeds.isEmpty, !round.isMultiple(of: 4) {
            bytes = seeds[dice.below(seeds.count)]
            for _ in 0...dice.below(3) where !bytes.isEmpty {
                bytes[dice.below(bytes.count)] = UInt8(truncatingIfNeeded: dice.next())
            }
            if dice.isOne(in: 3) { bytes.removeLast(dice.below(bytes.count + 1)) }
        }
        let origin = origins[dice.below(origins.count)]
        guard let text = listener.hear(bytes, origin, at: Instant(nanoseconds: Int64(round) * 1_000_000)) else {
            continue
        }
        if text.hasPrefix("{") {
            values += 1
            #expect((try? JSONValue(parsing: Array(text.utf8))) != nil, "\(text)", sourceLocation: sourceLocation)
        }
    }
    return values
}
