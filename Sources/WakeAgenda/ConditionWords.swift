// Reads the words of conditions, as manifests, orders and people write them.
import WakeModel

extension Condition {
    /// The most conditions of one entry or one manifest.
    static let mostInList = 16
    /// The daemon follows a path one folder at a time and watches each folder.
    private static let (longestPath, deepestPath) = (512, 32)
    /// Paths of the manifest do not count, since an operator wrote them.
    static let mostOrderedPaths = 4
    private static let (mount, unlocked) = ("mount:", "unlocked:")
    private static var known: [String] { plain.map(\.word) + [mount, unlocked] }

    /// Reads `power`, `time-synced`, `mount:/data`; the fault names the nearest word.
    public init(word: String) throws(ProtocolFault) {
        if let plain = Self.plain.first(where: { $0.word == word }) {
            self = plain
        } else if word.hasPrefix(Self.mount) {
            self = .mount(try Self.path(of: word, after: Self.mount))
        } else if word.hasPrefix(Self.unlocked) {
            self = .unlocked(try Self.path(of: word, after: Self.unlocked))
        } else {
            let near = nearest(to: word.pathless, in: Self.known)
            throw ProtocolFault(
                .unknownToken, "\(JSONValue.string(word).excerpt) is no condition\(near).",
                advice: "Write \(Self.plain.map(\.word).listed), or mount: or unlocked: with a path.")
        }
    }

    private static func path(of word: String, after prefix: String) throws(ProtocolFault) -> String {
        let path = word.dropFirst(prefix.count)
        let parts = path.split(separator: "/").filter { $0 != "." }
        guard path.first == "/", !parts.contains(".."), !path.unicodeScalars.contains(where: \.isMisleading) else {
            throw .malformed(
                "\(JSONValue.string(word).excerpt) names no absolute path without \"..\".",
                advice: "Write the whole path, such as \"\(prefix)/srv/data\".")
        }
        guard path.utf8.count <= longestPath, parts.count <= deepestPath else {
            throw ProtocolFault(
                .tooLong,
                "\(JSONValue.string(word).excerpt) names a path of \(path.utf8.count.counted("byte")) through \(parts.count.counted("name")); "
                    + "the limits are \(longestPath) and \(deepestPath).",
                advice: "Wait for a folder above it, or put a link that leads there at a shorter path.")
        }
        return "/" + parts.joined(separator: "/")
    }

    /// The conditions that stored words name, bound to the handler; other words are skipped.
    static func known(_ words: [String], to handler: HandlerID) -> [Condition] {
        words.compactMap { try? Condition(word: $0) }.map { $0.asked(by: handler) }
    }

    /// `place` names the list for the sentence. A word that comes twice counts once.
    static func list(_ value: JSONValue, for place: String) throws(ProtocolFault) -> [Condition] {
        guard let values = value.array else {
            throw .malformed(
                "\(place) must be a list of conditions; got \(value.excerpt).",
                advice: "Write [\"power\", \"network\"], or [] for none.")
        }
        guard values.count <= mostInList else {
            throw ProtocolFault(
                .tooMany, "\(place) lists \(values.count) conditions; the limit is \(mostInList).",
                advice: "Leave out those that others imply.")
        }
        var conditions: [Condition] = []
        for value in values {
            guard let word = value.string else {
                throw .malformed(
                    "\(place) must be a list of words; got \(value.excerpt).",
                    advice: "Write \(known.listed), in quotes.")
            }
            let condition = try Condition(word: word)
            if !conditions.contains(condition) { conditions.append(condition) }
        }
        return conditions
    }

    /// The path of a mount or of an unlocking; nil for other conditions.
    public var path: String? {
        switch self {
        case .mount(let path), .unlocked(let path, _): path
        case .power, .steady, .network, .unmetered, .idle, .storage, .cool, .timeSynced: nil
        }
    }
}

extension String {
    /// `mont:` of `mont:/data`, so that a path does not hide which word was meant.
    fileprivate var pathless: String { firstIndex(of: ":").map { String(self[...$0]) } ?? self }
}
