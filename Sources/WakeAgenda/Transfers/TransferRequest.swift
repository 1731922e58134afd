// The orders of a handler for its transfers: the values of `transfer`, `resume` and `credential`.
import WakeModel
import WakeTransfer

/// The value of `transfer`.
struct TransferRequest: Hashable, Sendable {
    var name: TransferName
    var order: TransferOrder
    var notBefore: TimeSpan
    /// Counted from the order; nil if no condition is waived before it is given up.
    var deadline: TimeSpan?
    var isPaused: Bool

    private static let keys = [
        "session", "id", "url", "to", "from", "method", "expect_sent", "expect_received", "sha256", "paused",
    ]
    static let example =
        "{\"transfer\":{\"session\":\"photos\",\"id\":\"17\",\"url\":\"https://example.org/17.jpg\",\"to\":\"17.jpg\"}}"

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "\"transfer\"", keys: Self.keys, spans: ["not_before", "deadline"], example: Self.example)
        name = TransferName(session: try object.identifier("session"), id: try object.identifier("id"))
        order = TransferOrder(try object.address(), try object.direction())
        if case .download = order.direction, object["method"] != nil {
            throw ProtocolFault(
                .conflict, "\"transfer\" has \"to\" and \"method\"; what is received is asked for by GET.",
                advice: "Leave \"method\" out, or write \"from\" for a file to send.")
        }
        order.sha256 = try object.digest()
        order.expectedSent = try object.byteCount("expect_sent")
        order.expectedReceived = try object.byteCount("expect_received")
        notBefore = object.span("not_before", from: .zero) ?? .zero
        deadline = object.span("deadline", from: .seconds(1))
        isPaused = object.flag("paused") ?? false
        try object.conclude()
        if let deadline, deadline <= notBefore {
            throw ProtocolFault(
                .conflict, "\"transfer\" of \"\(name.text)\" has its deadline at or before its earliest begin.",
                advice: "Both count from now: make \"deadline_s\" greater than \"not_before_s\".")
        }
    }
}

/// `photos/17`: a session, and a transfer in it.
struct TransferName: Hashable, Sendable {
    var session: String
    var id: String

    var text: String { "\(session)/\(id)" }

    init(session: String, id: String) { (self.session, self.id) = (session, id) }

    /// Nil where one of the two is missing.
    init?(_ text: String) {
        guard let slash = text.firstIndex(of: "/") else { return nil }
        (session, id) = (String(text[..<slash]), String(text[text.index(after: slash)...]))
        guard session.isPlainName, id.isPlainName else { return nil }
    }

    /// - Parameter owner: the verb, for the sentence.
    init(_ value: JSONValue, of owner: String) throws(ProtocolFault) {
        guard let name = value.string.flatMap({ TransferName($0) }) else {
            throw .malformed(
                "\(owner) must be the name of a transfer; got \(value.excerpt).",
                advice: "Write session and id with a slash between, such as \"photos/17\".")
        }
        self = name
    }
}

/// The value of `credential`.
struct CredentialOrder: Hashable, Sendable {
    var name: TransferName
    var credential: TransferCredential

    init(_ value: JSONValue) throws(ProtocolFault) {
        let example = "{\"credential\":{\"transfer\":\"photos/17\",\"user\":\"me\",\"password\":\"…\"}}"
        let keys = ["transfer", "user", "password"]
        let object = try RuleObject(value, owner: "\"credential\"", keys: keys, example: example)
        name = try TransferName(object["transfer"] ?? .null, of: "\"transfer\" of \"credential\"")
        var words: [String] = []
        for key in ["user", "password"] {
            guard let word = object[key]?.string, word.utf8.count <= 1_024, !word.utf8.contains(0) else {
                // Not with the value there: it may be the password.
                throw .malformed("\"\(key)\" of \"credential\" takes a text.", advice: "Write \(example).")
            }
            words.append(word)
        }
        guard !words[0].contains(":") else {
            throw .malformed("\"user\" of \"credential\" holds a colon.", advice: "Write the name alone.")
        }
        credential = TransferCredential(user: words[0], password: words[1])
    }
}

extension RuleObject {
    fileprivate func address() throws(ProtocolFault) -> WebAddress {
        let value = self["url"] ?? .null
        guard let address = value.string.flatMap({ WebAddress($0) }) else {
            throw fault(
                "url", takes: "an address of http or https", value,
                advice: "Write it whole, in plain characters and without a password: \"https://example.org/17.jpg\".")
        }
        return address
    }

    fileprivate func direction() throws(ProtocolFault) -> TransferOrder.Direction {
        switch (self["to"], self["from"]) {
        case (let value?, nil): return .download(to: try path("to", value))
        case (nil, let value?):
            return .upload(from: try path("from", value), word("method") ?? .put)
        case (nil, nil), (_?, _?):
            throw .malformed(
                "\"transfer\" takes one of \"to\" and \"from\".",
                advice: "Write \"to\" for a file to receive, or \"from\" for a file to send.")
        }
    }

    private func path(_ key: String, _ value: JSONValue) throws(ProtocolFault) -> String {
        guard let path = value.string, TransferPath.isPlain(path) else {
            throw fault(
                key, takes: "the path of a file beneath the state directory", value,
                advice: "Write it from there on, without \".\" and \"..\", such as \"photos/17.jpg\".")
        }
        return path
    }

    fileprivate func digest() throws(ProtocolFault) -> String? {
        guard let value = self["sha256"] else { return nil }
        guard let text = value.string?.lowercased(), TransferPath.isDigest(text) else {
            throw fault("sha256", takes: "64 hexadecimal digits", value, advice: "Write what sha256sum prints.")
        }
        return text
    }

    fileprivate func byteCount(_ key: String) throws(ProtocolFault) -> Int64? {
        guard let value = self[key] else { return nil }
        guard let count = value.integer, (0...(1 << 50)).contains(count) else {
            throw fault(key, takes: "a number of bytes", value, advice: "Write a whole number, or leave it out.")
        }
        return count
    }
}
