// An operator's order about an accessory on the control socket: its name, and which of several it is.
import WakeControl
import WakeModel

struct AccessoryOrder: Hashable, Sendable {
    enum Identity: Hashable, Sendable {
        /// The known accessory with this name or source.
        case known(String)
        /// A new accessory.
        case new
    }

    /// A node, a place in /sys, an alias or a source.
    var device: String
    /// Nil where the name stays.
    var name: String?
    /// Nil where the identity is not in question.
    var identity: Identity?

    static let new = "new"
}

extension AccessoryOrder {
    init(_ body: RequestBody) throws(ControlRefusal) {
        self.init(device: try body.require("device"), name: try body.text("name").map(Self.name))
        identity = try body.text("as").map { $0 == Self.new ? .new : .known($0) }
    }

    private static func name(_ text: String) throws(ControlRefusal) -> String {
        guard text.isPlainName, text != new else {
            throw .badRequest(
                "bad-value", "what was given as 'name' cannot be a name",
                "use 1 to 64 bytes of text, no '/' or space at its ends, and not '\(new)'")
        }
        return text
    }
}

/// An attached accessory with a profile that is not watched: it may be any of several twins, which differ only by their
/// ports, or it is another node of a watched accessory.
struct DoubtStatus: Hashable, Sendable {
    /// Its node, or its place in /sys where it has none.
    var node: String
    /// The names of the accessories that it may be.
    var candidates: [String]
    /// Why the operator need not decide, as a sentence without its subject.
    var why: String?
}

extension DoubtStatus: Described {
    static var reference: String? { "doubt" }
    static let shape = Shape<Self>([
        .always("node", \.node), .always("candidates", \.candidates),
        .always("why", \.why, "why the operator need not decide"),
    ])
}
