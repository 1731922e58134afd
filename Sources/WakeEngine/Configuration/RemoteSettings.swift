// Another bridge whose devices are devices here, from `remote` of `wakebridge.json5`.
import WakeModel
import WakeProfiles

public struct RemoteSettings: Hashable, Sendable {
    public var broker: BrokerSettings
    /// Its name, which is a level of its topics and the first part of its devices' names.
    public var bridge: String

    static let keys = BrokerSettings.keys + ["bridge"]

    /// Reads the whole file; refused entries are left out.
    static func list(of document: ConfigurationObject) -> [RemoteSettings] {
        let objects = document.objects("remote", keys: keys, required: ["broker", "bridge"]) ?? []
        var found: [RemoteSettings] = []
        for object in objects {
            guard let settings = RemoteSettings(object) else { continue }
            if found.contains(where: { $0.bridge == settings.bridge }) {
                object.add("bridge \"\(settings.bridge)\" is twice in remote; keep one", at: "bridge")
            }
            found.append(settings)
        }
        return found
    }

    private init?(_ object: ConfigurationObject) {
        guard let broker = BrokerSettings(object), let name = object.text("bridge") else { return nil }
        (self.broker, bridge) = (broker, name)
        if !Self.isName(name) {
            object.refuse("bridge", expected: "up to 64 of a-z, A-Z, 0-9, '-', '_' and '.', first a letter or digit")
        }
    }

    /// A level of a topic, a part of a URI, and a word in sentences.
    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, first.isWord, name.utf8.count <= 64 else { return false }
        return name.utf8.allSatisfy { $0.isWord || "-_.".utf8.contains($0) }
    }

    /// The beginning of its topics.
    public var topic: String { "\(broker.base)/\(bridge)" }
    var text: String { "\(bridge) at \(broker.address.text)" }
}

extension UInt8 {
    fileprivate var isWord: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
