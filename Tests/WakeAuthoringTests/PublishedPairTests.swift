// Every published pair of a broadcast and its values: its profile is found as the daemon finds it, and decodes it.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles

private let file = "bluetooth-devices.json"

@Suite(
    "Published pairs of broadcasts",
    .enabled(unless: PublishedPairs.hindrance(file)))
struct PublishedPairTests {
    /// Pairs that do not stand, by family and line, and why.
    private static let exempt: [String: String] = [
        "atc-ble 195": "the encrypted form of this firmware is not shipped",
        "govee-ble 3381": "motion sensors, whose broadcasts are encrypted, are not shipped",
        "govee-ble 3848": "buttons, whose broadcasts are encrypted, are not shipped",
        "govee-ble 3902": "buttons, whose broadcasts are encrypted, are not shipped",
        "govee-ble 4010": "buttons, whose broadcasts are encrypted, are not shipped",
        "inkbird-ble 1711": "there is no broadcast in it: the library connects and reads",
        "sensorpush-ble 1019": "the library waits for a second broadcast, and we tell the first",
        "sensorpush-ble 1105": "the library waits for a second broadcast, and we tell the first",
        "sensorpush-ble 1423": "the library waits for a second broadcast, and we tell the first",
        "sensorpush-ble 1659": "the bytes are those of the broadcast after it, which the pair of line 1706 holds",
        "thermopro-ble 1483": "the library waits for a second broadcast, and we tell the first",
        "xiaomi-ble 3272": "the bytes are those of a later message of the same test",
        "xiaomi-ble 3300": "the bytes are those of a later message of the same test",
    ]
    /// Pairs whose profile does not match them by itself.
    private static let named: [String: String] = ["inkbird-ble 1146": "inkbird-ibs-th"]
    /// Half of the last decimal, which we round away from zero and the library down: 52.815.
    private static let halves: [String: Set<String>] = ["sensorpush-ble 1135": ["humidity"]]

    @Test("every pair of what is shipped decodes as its publisher says, and all others are known with a reason")
    func pairs() throws {
        let pairs = try PublishedBroadcast.all()
        var (stand, all): ([String: Int], [String: Int]) = ([:], [:])
        for pair in pairs {
            all[pair.family, default: 0] += 1
            let faults = try Self.faults(of: pair)
            if Self.exempt[pair.key] == nil {
                #expect(faults == [], "\(pair)")
            } else {
                #expect(!faults.isEmpty, "\(pair) stands, and is on the list of those that do not")
            }
            stand[pair.family, default: 0] += faults.isEmpty ? 1 : 0
        }
        for (family, count) in all.sorted(by: { $0.key < $1.key }) {
            print("\(family): \(stand[family] ?? 0) of \(count)")
        }
        let left = Self.exempt.keys.filter { key in !pairs.contains { $0.key == key } }
        #expect(left.isEmpty, "there are no such pairs")
        print(
            "\(stand.values.reduce(0, +)) of \(pairs.count) published broadcasts decode; the others have a reason"
        )
        #expect(pairs.count == 203)
    }

    /// What does not come out as published.
    private static func faults(of pair: PublishedBroadcast) throws -> [String] {
        let told = try outcomes(of: pair)
        let values = told.compactMap { if case .success(let value) = $0 { value } else { nil } }
        guard !pair.expected.isEmpty else {
            return values.allSatisfy(\.saysNothing) && !told.isEmpty ? [] : ["it says \(values)"]
        }
        return pair.expected.compactMap { name, value in
            if PublishedReading.madeUp[pair.family]?.contains(name) == true { return nil }
            if halves[pair.key]?.contains(name) == true { return nil }
            let reading = PublishedReading.of(name, in: pair.family)
            return values.contains { reading.isSaid($0, value) } ? nil : "\(name) is \(value), and ours: \(told)"
        }
    }

    /// Of the whole broadcast, and where it was gathered from several of each alone. What no profile reads is left out.
    private static func outcomes(of pair: PublishedBroadcast) throws -> [Result<JSONValue, DecodeFault>] {
        let library = ShippedLibrary.library
        let messages = [pair.structures.flatMap { $0 }] + (pair.structures.count > 1 ? pair.structures : [])
        return try messages.compactMap { message in
            let found =
                named[pair.key].flatMap { library.index(named: $0) }
                ?? library.match(
                    kind: .bluetoothCentral, services: pair.services, name: pair.name, advertisement: message)
            // A frame of iBeacon says nothing of what the sensor measures.
            if found.map({ library.name($0) }) == "ibeacon" { return .success(.null) }
            return try found.flatMap { try outcome(of: message, pair.sender, library.decoder($0)) }
        }
    }

    private static func outcome(
        of message: [UInt8], _ sender: DeviceMemory.Sender, _ decoder: ProfileDecoder
    ) throws -> Result<JSONValue, DecodeFault>? {
        var memory = DeviceMemory()
        let heard = decoder.hear(message, from: .advertisement, of: sender, at: .zero, after: &memory)
        var writer = JSONWriter()
        do throws(DecodeFault) {
            guard try decoder.decode(message, from: .advertisement, heard: heard, into: &writer) else { return nil }
        } catch { return .failure(error) }
        return .success(try JSONValue(parsing: writer.bytes))
    }
}

extension PublishedBroadcast {
    fileprivate var key: String { "\(family) \(line)" }
}

extension JSONValue {
    /// Nothing but nulls in it, at any depth.
    fileprivate var saysNothing: Bool {
        switch self {
        case .null: true
        case .boolean, .integer, .number, .string: false
        case .array(let values): values.allSatisfy(\.saysNothing)
        case .object(let members): members.allSatisfy(\.value.saysNothing)
        }
    }
}
