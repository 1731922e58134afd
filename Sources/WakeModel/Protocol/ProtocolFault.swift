// Every fault of a line on descriptor 3, with the code that programs match and the sentences that people read.

/// Why a reply had no effect. The fault is answered with `wakebridge.error`, logged and counted; it acknowledges nothing.
public struct ProtocolFault: Error, Hashable, Sendable {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Not a JSON object, not one verb, or a value of the wrong kind.
        case malformed
        case unknownKey = "unknown-key"
        /// A word that is not in its closed list.
        case unknownToken = "unknown-token"
        case tooLong = "too-long"
        /// The event was delivered to an earlier process of the handler.
        case staleLease = "stale-lease"
        /// The event was never delivered to this process.
        case notDelivered = "not-delivered"
        case noExtensionLeft = "no-extension-left"
        case tooManyTasks = "too-many-tasks"
        case alreadyOpen = "already-open"
        case notOpen = "not-open"
        /// A replay has no device to write to or read from.
        case replayed
        /// The manifest does not watch that device.
        case notPermitted = "not-permitted"
        /// The manifest requires a bond, and the device has none.
        case notBonded = "not-bonded"
        case noSuchDevice = "no-such-device"
        case notConnected = "not-connected"
        /// The device, or the system below, refused; the sentence quotes it.
        case deviceFailed = "device-failed"
        /// The handler writes faster than its replies are read.
        case tooFast = "too-fast"
        /// As many are pending as may be.
        case tooMany = "too-many"
        /// The manifest declares no such id.
        case notRegistered = "not-registered"
        /// It cannot be had now.
        case unavailable
        /// It contradicts something that is there already, or itself.
        case conflict
        /// Its time is over.
        case tooLate = "too-late"
    }

    public var code: Code
    /// The fault, as one sentence.
    public var sentence: String
    /// The remedy, as one sentence.
    public var advice: String
    /// The `ref` of the line, where one could be read.
    public var reference: Reference?
    /// Faults of other entries of the same list, where all were read.
    public private(set) var others: [ProtocolFault] = []

    public init(_ code: Code, _ sentence: String, advice: String, reference: Reference? = nil) {
        self.code = code
        self.sentence = sentence
        self.advice = advice
        self.reference = reference
    }

    /// The same with others that were found beside it.
    public func beside(_ others: some Collection<ProtocolFault>) -> ProtocolFault {
        var fault = self
        for other in others { fault.others += [other] + other.others }
        return fault
    }
}

extension ProtocolFault: CustomStringConvertible {
    /// Both sentences, for a log.
    public var description: String { "\(sentence) \(advice)" }
}

// Faults of well-formed lines, which only the bridge can find. They are here so that all sentences are in one place.
extension ProtocolFault {
    public static func notDelivered(_ sequence: Sequence, verb: String) -> ProtocolFault {
        ProtocolFault(
            .notDelivered, "\(verb) \(sequence.rawValue): this process was never given that event.",
            advice: "Answer with the seq of an event line that came in on stdin.")
    }

    public static func staleLease(_ sequence: Sequence, verb: String) -> ProtocolFault {
        ProtocolFault(
            .staleLease, "\(verb) \(sequence.rawValue): that event is no longer lent to this process.",
            advice: "Nothing to do: the event was settled, or comes again with a higher attempt.")
    }

    public static let tooFast = ProtocolFault(
        .tooFast, "Lines come on descriptor 3 faster than they are read: what is written there waits now.",
        advice:
            "Write a line only to answer an event or to ask for something; a handler that goes on like this is killed.")

    public static func noExtensionLeft(task: String) -> ProtocolFault {
        ProtocolFault(
            .noExtensionLeft, "begin \"\(task)\": this wake has used up its pool of extension time.",
            advice: "Acknowledge what is done; the pool is full again after the next suspension.")
    }

    public static func tooHot(task: String) -> ProtocolFault {
        ProtocolFault(
            .noExtensionLeft, "begin \"\(task)\": the machine is too hot, so no extension time is given.",
            advice: "Acknowledge or refuse what is open; tasks can begin again when the machine has cooled.")
    }

    public static func memoryShort(task: String) -> ProtocolFault {
        ProtocolFault(
            .noExtensionLeft,
            "begin \"\(task)\": memory is short and this handler makes way, so no extension time is given.",
            advice: "Acknowledge or refuse what is open; what is not stays yours after the freeze.")
    }

    public static func tooManyTasks(task: String, limit: Int) -> ProtocolFault {
        ProtocolFault(
            .tooManyTasks, "begin \"\(task)\": \(limit) tasks are open, which is the limit.",
            advice: "End a task before beginning the next.")
    }

    public static func alreadyOpen(task: String) -> ProtocolFault {
        ProtocolFault(
            .alreadyOpen, "begin \"\(task)\": a task of that name is open.",
            advice: "End it first, or give this one another name.")
    }

    public static func notOpen(task: String) -> ProtocolFault {
        ProtocolFault(
            .notOpen, "end \"\(task)\": no task of that name is open.",
            advice: "End each task once, by the name it was begun with.")
    }

    public static func replayed(verb: String, device: String) -> ProtocolFault {
        ProtocolFault(
            .replayed, "\(verb) \"\(device)\": this is a replay, and there is no device.",
            advice: "Expect this answer in a replay, or test the request against the device itself.")
    }

    public static func noSuchDevice(_ device: String, verb: String) -> ProtocolFault {
        ProtocolFault(
            .noSuchDevice, "\(verb) \"\(device)\": the bridge knows no device of that name.",
            advice: "Use the subject of an event line, or a name that `wakebridge devices` shows.")
    }

    /// - Parameter aliases: those that begin with what the handler wrote.
    public static func notWhole(_ device: String, verb: String, of aliases: [String]) -> ProtocolFault {
        let names = aliases.map { "\"\($0)\"" }.joined(separator: " and ")
        return ProtocolFault(
            .noSuchDevice, "\(verb) \"\(device)\": this is only the beginning of \(names).",
            advice: "Write the whole name, as the subject of an event line has it.")
    }

    public static func notPermitted(_ device: String, verb: String) -> ProtocolFault {
        ProtocolFault(
            .notPermitted, "\(verb) \"\(device)\": this handler's manifest does not watch that device.",
            advice: "Name the device or its profile under `watch` in the manifest.")
    }

    public static func notBonded(_ device: String, verb: String) -> ProtocolFault {
        ProtocolFault(
            .notBonded,
            "\(verb) \"\(device)\": this handler's manifest requires bonded devices, and this one has no bond.",
            advice: "Bond it with `wakebridge pair`, or take \"bonded\" out of `require` in the manifest.")
    }

    public static func notConnected(_ device: String, verb: String) -> ProtocolFault {
        ProtocolFault(
            .notConnected, "\(verb) \"\(device)\": the device is not connected.",
            advice: "Ask again after its next connected event.")
    }

    public static func needsCharacteristic(_ device: String, verb: String) -> ProtocolFault {
        ProtocolFault(
            .malformed, "\(verb) \"\(device)\": a Bluetooth device is read and written by characteristic.",
            advice: "Name one, such as \"characteristic\":\"2a39\".")
    }

    /// `why` follows a colon.
    public static func deviceFailed(_ device: String, verb: String, why: String) -> ProtocolFault {
        ProtocolFault(
            .deviceFailed, "\(verb) \"\(device)\": \(why).",
            advice: "See what it offers with `wakebridge devices`, and what its maker says of the value.")
    }
}

// The wording of protocol faults: excerpts of the line, and the nearest known word.
extension ProtocolFault {
    static let lineTooLong = ProtocolFault.tooLong(
        "The line", nil, limit: ReplyLine.lengthLimit, advice: "Write one JSON object a line, each ended by a newline.")

    package static func malformed(
        _ sentence: String, advice: String = "Write one JSON object a line, such as {\"ack\":42}."
    ) -> ProtocolFault {
        ProtocolFault(.malformed, sentence, advice: advice)
    }

    package static func tooLong(_ what: String, _ count: Int?, limit: Int, advice: String) -> ProtocolFault {
        let length = count.map { "\($0) bytes long" } ?? "too long"
        return ProtocolFault(.tooLong, "\(what) is \(length); the limit is \(limit) bytes.", advice: advice)
    }

    package static func unknownKey(_ name: String, of owner: String, known: [String]) -> ProtocolFault {
        let shown = JSONValue.string(name).excerpt
        return ProtocolFault(
            .unknownKey, "\(shown) is no key of \(owner)\(nearest(to: name, in: known)).",
            advice: "Use the keys \(known.listed).")
    }
}

extension JSONValue {
    var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The JSON text, cut to fit into a sentence.
    package var excerpt: String {
        let text = text
        return text.utf8.count <= 48 ? text : "\(text.prefix(40))…"
    }
}

extension [String] {
    /// `a, b or c`.
    package var listed: String { joined(with: "or") }
    package var joinedByAnd: String { joined(with: "and") }

    private func joined(with word: String) -> String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " \(word) " + last
    }
}

/// `; the nearest is "ack"`, or nothing where no known word is near.
package func nearest(to word: String, in known: [String]) -> String {
    nearestName(to: word, among: known).map { "; the nearest is \"\($0)\"" } ?? ""
}
