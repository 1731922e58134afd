// The named decoders, each over messages of one device.
import WakeModel
import WakeProfiles

struct DecoderTarget: CaseIterable {
    static let allCases = NamedDecoder.allCases.map { DecoderTarget(decoder: $0) }

    let decoder: NamedDecoder
}

/// Devices that encrypt their broadcasts.
enum FuzzedKey {
    static let bytes: [UInt8] = Array(0..<16)
}

extension DecoderTarget: OutsideReader {
    var name: String { "decoder-\(decoder.rawValue)" }

    /// An input is a report descriptor, then messages with what they are of; each begins with its length.
    func read(_ bytes: [UInt8]) -> Bool {
        var feed = ByteFeed(bytes)
        var settings = DecoderSettings()
        settings.reportDescriptor = feed.piece(Int(feed.number(bytes: 2)))
        guard var state = try? decoder.begin(settings) else { return true }
        var now = Instant.zero
        while !feed.isEmpty {
            let origin = feed.choice(origins)
            let message = DecoderMessage(
                bytes: feed.piece(), origin: origin, address: [0xc0, 2, 3, 4, 5, 6], key: FuzzedKey.bytes,
                heard: now)
            var json: [UInt8] = []
            let hasValue = (try? decoder.run(over: message, with: &state, into: &json)) ?? false
            precondition(!hasValue || (try? JSONValue(parsing: json)) != nil, "a decoded value is no JSON")
            now = now + .milliseconds(Int64(feed.byte()) * 10)
            _ = decoder.finish(&state, at: now)
        }
        return true
    }

    /// Where its messages come from, and where they should not.
    private var origins: [DecoderMessage.Origin] {
        switch decoder {
        case .bthome: [.serviceData(BluetoothUUID(short: 0xfcd2)), .characteristic]
        case .mibeacon: [.serviceData(BluetoothUUID(short: 0xfe95)), .characteristic]
        case .victron: [.manufacturerData(0x02e1), .line]
        case .ruuvi8: [.manufacturerData(0x0499), .line]
        case .ais, .sml: [.line, .report]
        case .midi: [.characteristic, .line]
        case .wedge: [.report, .input, .line]
        case .hidPower: [.report, .featureReport, .input]
        }
    }
}
