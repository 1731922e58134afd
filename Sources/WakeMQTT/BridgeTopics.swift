// All topics that a bridge uses at its broker, in one place.
import WakeModel

public struct BridgeTopics: Hashable, Sendable {
    /// The topics that are retained for each device.
    public enum DeviceTopic: String, Hashable, Sendable, CaseIterable {
        case about, availability, session, state
    }

    public let base: String
    public let bridge: String
    /// `wakebridge/pi-kitchen`.
    public let root: String

    public init(base: String, bridge: String) {
        (self.base, self.bridge) = (base, bridge)
        root = "\(base)/\(TopicName.escaped(bridge))"
    }

    public var status: String { "\(root)/status" }
    public var events: String { "\(root)/events" }

    public func device(_ alias: String, _ what: DeviceTopic) -> String {
        "\(root)/devices/\(TopicName.escaped(alias))/\(what.rawValue)"
    }

    public func handler(_ id: String) -> String { "\(root)/handlers/\(TopicName.escaped(id))/about" }

    public var about: String { "\(root)/about" }

    /// The topics that it retains about itself, its devices and its handlers, of this life or of an earlier one.
    public static let ownNames = ["about", "devices/+/about", "handlers/+/about"]

    /// The topic of a command for a device or handler.
    public func command(_ command: BridgeCommand.Kind, of name: String) -> String {
        "\(root)/\(command.isOfHandler ? "handlers" : "devices")/\(TopicName.escaped(name))/\(command.tail)"
    }

    /// The levels below the bridge; nil for a topic that is not of it.
    public func levels(of topic: String) -> [Substring]? {
        guard topic.hasPrefix(root + "/") else { return nil }
        return topic.dropFirst(root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
    }

    /// The owner of a retained message at such a topic: the bridge, a device, or a handler.
    public func owner(of topic: String) -> RetainedName? {
        if topic == about { return .bridge }
        guard topic.utf8.count <= Self.longest, let levels = levels(of: topic), levels.count == 3, levels[2] == "about",
            let name = TopicName.unescaped(levels[1])
        else { return nil }
        switch levels[0] {
        case "devices": return .device(name)
        case "handlers": return .handler(name)
        default: return nil
        }
    }

    /// In bytes; a bridge retains nothing at longer topics.
    private static let longest = 4_096

    public enum RetainedName: Hashable, Sendable {
        case bridge
        case device(String)
        case handler(String)
    }
}
