// A manifest's handler for one device: its name for people, and the identity under which its state and events are kept.
import WakeCore
import WakeModel

/// The difference of one instance of a manifest from the others.
public struct HandlerInstance: Hashable, Sendable {
    /// The id of the manifest.
    public var template: String
    /// The device's URI, which no renaming changes.
    public var device: String
    /// `hr@strap`, for people.
    public var name: String

    /// Between the id of a manifest and what follows it; no id has it.
    package static let mark: Character = "@"
}

extension HandlerManifest {
    /// The most instances of one manifest.
    package static var mostInstances: Int { InstanceBook.most }

    /// The handler's name for people: the file's name, and behind it the device of an instance.
    public var name: String { instance?.name ?? id }

    /// The handler for one device of the manifest: an ordinary one that watches this device alone.
    func instance(for device: Device, named name: String) -> HandlerManifest {
        var made = self
        made.isPerDevice = false
        made.instance = HandlerInstance(template: id, device: device.uri, name: name)
        made.id = id + String(HandlerInstance.mark) + Self.fileName(of: device.uri)
        made.settings.subscriptions = settings.best(for: device).map { [$0] } ?? []
        for place in made.settings.subscriptions.indices { made.settings.subscriptions[place].device = device.uri }
        return made
    }

    /// The name if no other instance has it. Aliases may have blanks and slashes; a name is one word of a shell.
    func name(for device: Device, besides taken: Set<String>) -> String {
        let short = id + String(HandlerInstance.mark) + Self.word(device.alias)
        guard taken.contains(short) else { return short }
        let end = device.uri.split(separator: "/").last.map(String.init) ?? ""
        return "\(short).\(Self.word(end))"
    }

    private static let longestWord = 64

    private static func word(_ text: String) -> String {
        let isPlain = { (character: Character) in
            character.isLetter || character.isNumber || "-_.".contains(character)
        }
        let plain = String(text.map { isPlain($0) ? $0 : "-" }.prefix(longestWord))
        return plain.isEmpty ? "-" : plain
    }

    /// Longer ones end in a check of the whole: with the id of the manifest it is the name of a folder.
    private static let longestFileName = 150

    /// A URI as a part of a path; two URIs never have the same, short of a collision in a long one.
    private static func fileName(of uri: String) -> String {
        let whole = uri.drop { $0 == "/" }.utf8.reduce(into: "") { $0 += escaped($1) }
        guard whole.utf8.count > longestFileName else { return whole }
        var check = FNV1a()
        check.add(uri.utf8)
        return "\(whole.prefix(longestFileName - 17)).\(String(check.value, radix: 16))"
    }

    private static func escaped(_ byte: UInt8) -> String {
        let character = Character(UnicodeScalar(byte))
        let isPlain = character.isLetter || character.isNumber || ".-".contains(character)
        if byte < 0x80, isPlain { return String(character) }
        switch character {
        case "/": return "_"
        case ":": return "="
        default: return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}

extension HandlerSettings {
    /// The subscription by which the device is watched: one that names it comes before one for all of its profile.
    fileprivate func best(for device: Device) -> Subscription? {
        let matching = subscriptions.filter { $0.matches(device) }
        return matching.first { $0.device != nil } ?? matching.first
    }
}
