// Files that people write: profiles, manifests, settings, keys.
import DeviceLibrary
import WakeEngine
import WakeModel
import WakeProfiles

enum ConfigurationTarget: String, CaseIterable {
    case json5
    /// Read whole, and then used on messages of all kinds.
    case profile
    case sharedDefinition = "shared-definition"
    case manifest, settings, keys
}

extension ConfigurationTarget: OutsideReader {
    var files: [String] {
        switch self {
        case .json5: ["Devices/*/vectors.json5", "Examples/handlers/*.json5"]
        case .profile: ["Devices/*/profile.json5"]
        case .sharedDefinition: ["Devices/gatt/*.json5"]
        case .manifest: ["Examples/handlers/*.json5", "Tests/Installed/*.json5"]
        case .settings, .keys: []
        }
    }

    func read(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .json5: Self.readValue(bytes)
        case .profile: Self.useProfile(bytes)
        case .sharedDefinition: Self.useDefinition(bytes)
        case .manifest: Self.readManifest(bytes)
        case .settings: _ = try? BridgeSettings(text: bytes, file: "wakebridge.json5")
        case .keys: _ = try? DeviceKeys(bytes, file: "keys.json5", mode: 0o600)
        }
        return true
    }

    /// What is written of a value reads as the same value.
    private static func readValue(_ bytes: [UInt8]) {
        guard let value = try? JSONValue(json5: bytes) else { return }
        var writer = JSONWriter()
        writer.value(value)
        precondition((try? JSONValue(parsing: writer.bytes)) != nil, "a value that was written does not read")
        _ = try? JSONValue.offsets(json5: bytes)
    }

    private static func useProfile(_ bytes: [UInt8]) {
        let name = (try? JSONValue(json5: bytes))?["name"]?.string ?? "fuzzed"
        let source = ProfileLibrary.Source(name: name, file: "profile.json5", text: bytes)
        let library = ProfileLibrary.load([source], shared: ShippedLibrary.shared).library
        guard let index = library.index(named: name) else { return }
        let (profile, decoder) = (library[index], library.decoder(index))
        _ = (profile.shownFields, try? UdevRules([profile]))
        let channels = Array(profile.channelNames.keys) + [.serial, .input, .report(0), .advertisement]
        let sender = DeviceMemory.Sender(address: [1, 2, 3, 4, 5, 6], key: FuzzedKey.bytes)
        var memory = DeviceMemory()
        for (turn, message) in Self.messages.enumerated() {
            let now = Instant(nanoseconds: Int64(turn) * 1_000_000_000)
            for channel in channels {
                var writer = JSONWriter()
                let heard = decoder.hear(message, from: channel, of: sender, at: now, after: &memory)
                _ = try? decoder.decode(message, from: channel, heard: heard, into: &writer)
            }
        }
    }

    /// Some that fit many layouts, and some that fit none.
    private static let messages: [[UInt8]] = [
        [], [0], [UInt8](repeating: 0xff, count: 20), Array(0..<64), Array("+0012.50 kg ST,GS\r".utf8),
        [UInt8](repeating: 0x80, count: 255),
    ]

    private static func useDefinition(_ bytes: [UInt8]) {
        let text = """
            { name: "fuzzed", title: "Fuzzed", mode: "bluetooth-central", match: { services: ["180d"] },
              notify: ["2a37"], read: ["2a19"] }
            """
        let definitions = ["2a37", "2a19"].map { SharedDefinition(name: $0, file: "\($0).json5", text: bytes) }
        let source = ProfileLibrary.Source(name: "fuzzed", file: "profile.json5", text: Array(text.utf8))
        let library = ProfileLibrary.load([source], shared: definitions).library
        guard let index = library.index(named: "fuzzed"), let uuid = BluetoothUUID("2a37") else { return }
        for message in messages {
            var writer = JSONWriter()
            _ = try? library.decoder(index).decode(message, from: .characteristic(uuid), into: &writer)
        }
    }

    private static func readManifest(_ bytes: [UInt8]) {
        for isRoot in [false, true] {
            let manifest = try? HandlerManifest(id: "fuzzed", file: "fuzzed.json5", text: bytes, isRoot: isRoot)
            _ = manifest?.faults(against: ShippedLibrary.library)
        }
    }
}
