// Reads a request's body and parameters into the values that calls consist of.
import WakeControl
import WakeModel

/// A JSON object whose keys are all known; an empty body is an empty object.
struct RequestBody {
    private let value: JSONValue
    private let path: String

    init(_ bytes: [UInt8], to components: [String], keys: [String]) throws(ControlRefusal) {
        path = "/" + components.joined(separator: "/")
        do { value = bytes.isEmpty ? .object([]) : try JSONValue(parsing: bytes) } catch {
            throw .badRequest("bad-json", "the body sent to \(path) is not JSON: \(error)", "send one JSON object")
        }
        guard case .object(let members) = value else {
            throw .badRequest("bad-json", "the body sent to \(path) is not a JSON object", "send one JSON object")
        }
        for member in members where !keys.contains(member.name) {
            let known = nearestNames(to: member.name, among: keys)
            let names = (known.isEmpty ? keys : known).map { "'\($0)'" }.joined(separator: ", ")
            throw .badRequest(
                "unknown-key", "\(path) does not know the key '\(member.name)'",
                keys.isEmpty ? "send it no body" : "use \(names)")
        }
    }

    /// A request as handlers write it, with the faults of a handler's line.
    func request(
        _ read: (JSONValue) throws(ProtocolFault) -> DeviceRequest
    ) throws(ControlRefusal) -> DeviceRequest {
        do throws(ProtocolFault) { return try read(value) } catch { throw ControlRefusal(error, .badRequest) }
    }

    func flag(_ key: String) throws(ControlRefusal) -> Bool? {
        guard let found = value[key] else { return nil }
        guard let flag = found.boolean else { throw wrongType(key, "true or false") }
        return flag
    }

    /// A text that is not empty.
    func text(_ key: String) throws(ControlRefusal) -> String? {
        guard let found = value[key] else { return nil }
        guard let text = found.string, !text.isEmpty else { throw wrongType(key, "a text that is not empty") }
        return text
    }

    func sequence(_ key: String) throws(ControlRefusal) -> Sequence? {
        guard let found = value[key] else { return nil }
        guard let number = found.integer, number > 0 else { throw wrongType(key, "a whole number from 1") }
        return Sequence(UInt64(number))
    }

    func require(_ key: String) throws(ControlRefusal) -> String {
        if let text = try text(key) { return text }
        throw .badRequest("missing-key", "\(path) needs the key '\(key)'", "add \"\(key)\": \"…\" to the body")
    }

    /// The value of `state`, in the words of the command line.
    func isOn() throws(ControlRefusal) -> Bool {
        switch try require("state") {
        case "on": return true
        case "off": return false
        case let other: throw .badRequest("bad-value", "the state '\(other)' is neither on nor off", "use on or off")
        }
    }

    /// The state that a condition is to simulate.
    func played() throws(ControlRefusal) -> ConditionPlay.Value {
        let text = try require("value")
        if let value = ConditionPlay.Value(rawValue: text) { return value }
        throw .badRequest("bad-value", "a condition cannot be '\(text)'", "use on, off or real")
    }

    /// The access that a new token is to grant.
    func access() throws(ControlRefusal) -> Access {
        let isUrgent = try flag("urgent") ?? false
        guard let handler = try text("inbox") else {
            guard !isUrgent else {
                throw .badRequest(
                    "bad-value", "only a token for an inbox is urgent", "leave out urgent, or name an inbox")
            }
            return .role(try role() ?? .pair)
        }
        guard value["role"] == nil else {
            throw .badRequest("bad-value", "a token for an inbox has no role", "leave out role or inbox")
        }
        return .inbox(of: handler, isUrgent: isUrgent)
    }

    private func role() throws(ControlRefusal) -> AccessRole? {
        guard let text = try text("role") else { return nil }
        if let role = AccessRole(rawValue: text) { return role }
        let known = AccessRole.allCases.map(\.rawValue).joined(separator: ", ")
        throw .badRequest("bad-value", "'\(text)' is no role", "use one of \(known)")
    }

    func session() throws(ControlRefusal) -> LinkSession {
        let text = try require("session")
        if let session = LinkSession(word: text) { return session }
        let known = LinkSession.allCases.map(\.rawValue)
        throw .badRequest(
            "bad-value", "'\(text)' is nothing that a session can be",
            "use one of \(known.joined(separator: ", ")).\(suggestion(for: text, among: known))")
    }

    private func wrongType(_ key: String, _ wanted: String) -> ControlRefusal {
        .badRequest("bad-value", "the key '\(key)' sent to \(path) is not \(wanted)", "give it \(wanted)")
    }
}

extension ControlRequest {
    /// A parameter that names something; nil also where it is empty.
    func named(_ name: String) -> String? { parameter(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// `follow`, `follow=1` and `follow=true` are true.
    func flag(_ name: String) throws(ControlRefusal) -> Bool {
        switch parameter(name) {
        case nil, "0", "false": return false
        case "", "1", "true": return true
        case let text?: throw .badRequest("bad-value", "\(name)=\(text) is neither true nor false", "use \(name)=true")
        }
    }
}
