// Reads one line of descriptor 3: a plain acknowledgement without a parser, everything else strictly.

extension ReplyLine {
    /// Reads one line, without its newline. The fault carries the line's `ref` where one could be read.
    public static func parse(_ line: ArraySlice<UInt8>) throws(ProtocolFault) -> ReplyLine {
        if let sequence = plainAcknowledgement(line) { return ReplyLine(.ack(sequence, result: nil)) }
        guard line.count <= lengthLimit else { throw .lineTooLong }
        var reader = JSONReader(bytes: Array(line), dialect: .strict, keepingTextOf: "ref")
        let members = try objectMembers(&reader)
        let reference = try Reference(in: members, text: reader.quotedText)
        do throws(ProtocolFault) {
            return ReplyLine(try Reply(members), reference: reference)
        } catch {
            var fault = error
            fault.reference = reference
            throw fault
        }
    }

    /// Whether a line of a log is an answer to an event, which belongs on descriptor 3.
    public static func isAnswer(_ line: String) -> Bool {
        guard line.utf8.first == UInt8(ascii: "{"), line.utf8.count <= longestAnswer,
            let read = try? parse(Array(line.utf8)[...])
        else { return false }
        switch read.reply {
        case .ack, .nack, .handBack, .progress: return true
        case .order, .ready, .begin, .end, .remaining, .checkpoint, .write, .read: return false
        }
    }

    /// Bytes; longer lines are logs, and are not worth reading.
    private static let longestAnswer = 256

    /// Reads `{"ack":42}` or `{"ack": 42}`, which nearly every line is.
    private static func plainAcknowledgement(_ line: ArraySlice<UInt8>) -> Sequence? {
        let opening: StaticString = "{\"ack\":"
        guard line.last == UInt8(ascii: "}"), opening.withUTF8Buffer({ line.starts(with: $0) }) else { return nil }
        var digits = line.dropFirst(opening.utf8CodeUnitCount).dropLast()
        if digits.first == UInt8(ascii: " ") { digits = digits.dropFirst() }
        // 18 digits cannot overflow; longer numbers, and a leading zero, are left to the parser.
        guard (1...18).contains(digits.count), digits.first != UInt8(ascii: "0") else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return Sequence(value)
    }

    private static func objectMembers(_ reader: inout JSONReader) throws(ProtocolFault) -> [JSONValue.Member] {
        let value: JSONValue
        do {
            value = try reader.document()
        } catch {
            throw .malformed("The line is not JSON, \(error.description).")
        }
        guard case .object(let members) = value else {
            throw .malformed("The line must be a JSON object; got \(value.excerpt).")
        }
        return members
    }
}

extension Reply {
    private enum Verb: String, CaseIterable {
        case ack, nack, progress, ready, begin, end, remaining, write, read, checkpoint
    }

    /// The subject of a line: a verb of the protocol's own, or an order of a kind of event.
    private enum Subject: Equatable {
        case own(Verb)
        case order(HandlerOrder.Verb)

        init?(_ word: String) {
            if let verb = Verb(rawValue: word) {
                self = .own(verb)
            } else if let order = HandlerOrder.Verb(rawValue: word) {
                self = .order(order)
            } else {
                return nil
            }
        }

        var word: String {
            switch self {
            case .own(let verb): verb.rawValue
            case .order(let verb): verb.rawValue
            }
        }

        static var words: [String] { Verb.allCases.map(\.rawValue) + HandlerOrder.Verb.allCases.map(\.rawValue) }
    }

    /// Keys that belong to one verb only.
    private static let companions: [(key: String, verb: Verb)] = [
        ("result", .ack), ("after_s", .nack), ("until", .nack), ("done", .progress), ("total", .progress),
    ]

    fileprivate init(_ members: [JSONValue.Member]) throws(ProtocolFault) {
        let (subject, value) = try Self.subject(of: members)
        let companions = try Self.companions(of: subject, in: members)
        switch subject {
        case .own(let verb): self = try Self.own(verb, value, companions)
        case .order(let verb): self = .order(HandlerOrder(verb, value))
        }
    }

    private static func own(
        _ verb: Verb, _ value: JSONValue, _ companions: [String: JSONValue]
    ) throws(ProtocolFault) -> Reply {
        switch verb {
        case .ack:
            return .ack(
                try value.sequence(for: "ack"),
                result: try companions["result"].map { value throws(ProtocolFault) in try Result(value) })
        case .nack: return try refusal(of: try value.sequence(for: "nack"), companions)
        case .progress:
            return .progress(
                try value.sequence(for: "progress"), done: try (companions["done"] ?? .null).count(for: "done"),
                total: try companions["total"].map { value throws(ProtocolFault) in try value.count(for: "total") })
        case .ready:
            try value.requireTrue(for: "ready")
            return .ready
        case .remaining:
            try value.requireTrue(for: "remaining")
            return .remaining
        case .begin: return .begin(try value.taskName(for: "begin"))
        case .end: return .end(try value.taskName(for: "end"))
        case .write:
            let request = try value.writeRequest()
            return .write(request.target, bytes: request.bytes)
        case .read: return .read(try value.address(for: "read", keys: ["device", "characteristic", "stream"]))
        case .checkpoint: return .checkpoint(try value.checkpoint())
        }
    }

    private static func subject(of members: [JSONValue.Member]) throws(ProtocolFault) -> (Subject, JSONValue) {
        var found: (subject: Subject, value: JSONValue)?
        let others = companions.map(\.key) + ["ref"]
        for member in members {
            guard let subject = Subject(member.name) else {
                guard others.contains(member.name) else {
                    throw .unknownKey(member.name, of: "a reply", known: Subject.words + others)
                }
                continue
            }
            guard found == nil else {
                throw .malformed(
                    "Two verbs in one line, \"\(found?.subject.word ?? "")\" and \"\(subject.word)\".",
                    advice: "Write each on a line of its own.")
            }
            found = (subject, member.value)
        }
        guard let found else {
            throw .malformed("The line holds no verb.", advice: "Write one of \(Subject.words.listed).")
        }
        return found
    }

    private static func refusal(
        of sequence: Sequence, _ companions: [String: JSONValue]
    ) throws(ProtocolFault) -> Reply {
        guard let until = companions["until"] else {
            return .nack(
                sequence, after: try companions["after_s"].map { value throws(ProtocolFault) in try value.wait() })
        }
        guard companions["after_s"] == nil else {
            throw .malformed("\"after_s\" and \"until\" stand beside one \"nack\".", advice: "Write one of them.")
        }
        return .handBack(sequence, until: try until.conditions())
    }

    private static func companions(
        of subject: Subject, in members: [JSONValue.Member]
    ) throws(ProtocolFault) -> [String: JSONValue] {
        var found: [String: JSONValue] = [:]
        for (key, owner) in companions {
            guard let member = members.first(where: { $0.name == key }) else { continue }
            guard subject == .own(owner) else {
                throw .malformed(
                    "\"\(key)\" stands beside \"\(subject.word)\", and goes with \"\(owner.rawValue)\" only.",
                    advice: "Leave it out.")
            }
            found[key] = member.value
        }
        return found
    }
}

extension Reply.Result {
    fileprivate init(_ value: JSONValue) throws(ProtocolFault) {
        let known = Self.allCases.map(\.rawValue)
        guard let word = value.string else {
            throw .malformed("\"result\" must be a word; got \(value.excerpt).", advice: "Write \(known.listed).")
        }
        guard let result = Self(rawValue: word) else {
            throw ProtocolFault(
                .unknownToken,
                "\"result\" knows no \(value.excerpt)\(nearest(to: word, in: known)).",
                advice: "Write \(known.listed).")
        }
        self = result
    }
}

extension JSONValue {
    fileprivate func sequence(for verb: String) throws(ProtocolFault) -> Sequence {
        guard let number = integer, number > 0 else {
            throw .malformed(
                "\"\(verb)\" must be an event's seq, a whole number from 1; got \(excerpt).",
                advice: "Write {\"\(verb)\":42} with the seq of an event line.")
        }
        return Sequence(UInt64(number))
    }

    fileprivate func wait() throws(ProtocolFault) -> TimeSpan {
        guard let seconds = number, seconds >= 0, seconds <= ReplyLine.longestWait.seconds else {
            throw .malformed(
                "\"after_s\" must be a number of seconds from 0 to 86400; got \(excerpt).",
                advice: "Leave it out for the bridge's own back-off.")
        }
        return TimeSpan(nanoseconds: Int64((seconds * 1e9).rounded()))
    }

    fileprivate func count(for key: String) throws(ProtocolFault) -> Int64 {
        guard let count = integer, count >= 0 else {
            throw .malformed(
                "\"\(key)\" must be a whole number from 0; got \(excerpt).",
                advice: "Write {\"progress\":42,\"done\":3,\"total\":10}, where done grows.")
        }
        return count
    }

    /// Their words are the agenda's.
    fileprivate func conditions() throws(ProtocolFault) -> [String] {
        let words = array?.compactMap(\.string) ?? []
        guard !words.isEmpty, words.count == array?.count, words.count <= ReplyLine.mostConditions else {
            throw .malformed(
                "\"until\" must be 1 to \(ReplyLine.mostConditions) conditions; got \(excerpt).",
                advice: "Write {\"nack\":42,\"until\":[\"network\"]}.")
        }
        return words
    }

    fileprivate func requireTrue(for verb: String) throws(ProtocolFault) {
        guard boolean == true else {
            throw .malformed("\"\(verb)\" must be true; got \(excerpt).", advice: "Write {\"\(verb)\":true}.")
        }
    }

    fileprivate func taskName(for verb: String) throws(ProtocolFault) -> String {
        guard let name = string, !name.isEmpty else {
            throw .malformed(
                "\"\(verb)\" must be a task's name, a text of 1 to \(ReplyLine.taskNameLimit) bytes; got \(excerpt).",
                advice: "Write {\"\(verb)\":\"upload\"}.")
        }
        guard name.utf8.count <= ReplyLine.taskNameLimit else {
            throw .tooLong("The task's name", name.utf8.count, limit: ReplyLine.taskNameLimit, advice: "Shorten it.")
        }
        return name
    }

    fileprivate func checkpoint() throws(ProtocolFault) -> String {
        guard let text = string else {
            throw .malformed(
                "\"checkpoint\" must be a text; got \(excerpt).",
                advice: "Write what you keep as one JSON string.")
        }
        guard text.utf8.count <= ReplyLine.checkpointLimit else {
            throw .tooLong(
                "The checkpoint", text.utf8.count, limit: ReplyLine.checkpointLimit,
                advice: "Keep it in a file in WAKEBRIDGE_STATE_DIR, and only its name here.")
        }
        return text
    }
}

extension Reference {
    /// `text` is the member's value as it was written.
    fileprivate init?(in members: [JSONValue.Member], text: String?) throws(ProtocolFault) {
        guard let value = members.first(where: { $0.name == "ref" })?.value, let text else { return nil }
        switch value {
        case .null, .boolean, .integer, .number, .string: break
        case .array, .object:
            throw .malformed(
                "\"ref\" must be a text, a number, true, false or null; got \(value.excerpt).",
                advice: "Number your requests.")
        }
        guard text.utf8.count <= ReplyLine.referenceLimit else {
            throw .tooLong(
                "The ref", text.utf8.count, limit: ReplyLine.referenceLimit, advice: "Number your requests.")
        }
        self.init(text: text)
    }
}

extension JSONValue {
    func writeRequest() throws(ProtocolFault) -> (target: DeviceAddress, bytes: [UInt8]) {
        let target = try address(for: "write", keys: ["device", "characteristic", "stream", "hex"])
        guard let bytes = self["hex"]?.string.flatMap({ [UInt8](hexadecimal: $0) }) else {
            throw .malformed(
                "\"hex\" of \"write\" must be an even number of hexadecimal digits; got \((self["hex"] ?? .null).excerpt).",
                advice: "Write two digits a byte, such as \"01ff\".")
        }
        if case .characteristic = target.channel, bytes.count > ReplyLine.characteristicLimit {
            throw .tooLong(
                "The value", bytes.count, limit: ReplyLine.characteristicLimit,
                advice: "Write it in parts, as the device expects them.")
        }
        return (target, bytes)
    }

    func address(for verb: String, keys known: [String]) throws(ProtocolFault) -> DeviceAddress {
        guard case .object(let members) = self else {
            throw .malformed(
                "\"\(verb)\" must be an object; got \(excerpt).",
                advice: "Write {\"\(verb)\":{\"device\":\"…\"}}.")
        }
        for member in members where !known.contains(member.name) {
            throw .unknownKey(member.name, of: "\"\(verb)\"", known: known)
        }
        guard let device = self["device"]?.string, !device.isEmpty else {
            throw .malformed(
                "\"device\" of \"\(verb)\" must be a device's name; got \((self["device"] ?? .null).excerpt).",
                advice: "Use the subject of an event line.")
        }
        return DeviceAddress(device: device, channel: try channel(for: verb))
    }

    private func channel(for verb: String) throws(ProtocolFault) -> Channel? {
        switch (self["characteristic"], self["stream"]) {
        case (nil, nil): return nil
        case (let value?, nil):
            guard let name = value.string.flatMap({ CharacteristicName($0) }) else {
                throw .malformed(
                    "\"characteristic\" must be a Bluetooth UUID; got \(value.excerpt).",
                    advice: "Write it as event lines do, such as \"2a39\".")
            }
            return .characteristic(name)
        case (nil, let value?):
            guard let channel = value.string.flatMap({ Channel(stream: $0) }) else {
                throw ProtocolFault(
                    .unknownToken,
                    "\"stream\" must be serial, input or report-0 to report-255; got \(value.excerpt).",
                    advice: "Write it as event lines do.")
            }
            return channel
        case (_?, _?):
            throw .malformed(
                "\"\(verb)\" names both a characteristic and a stream.", advice: "Name the one that the device has.")
        }
    }
}
