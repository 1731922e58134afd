// The order `serve`: a value for the subscribers and later reads, or the answer to one read.
import WakeModel

enum ServeOrder: Hashable, Sendable {
    /// - Parameter centrals: nil for all, and for later reads.
    case value([UInt8], BluetoothUUID, centrals: Set<String>?)
    case answer(Int64, [UInt8])
    case refusal(Int64, code: UInt8)

    private static let keys = ["characteristic", "hex", "centrals", "request", "refuse"]
    private static let example = "{\"serve\":{\"characteristic\":\"2a37\",\"hex\":\"0048\"}}"
    private static let answerExample = "{\"serve\":{\"request\":42,\"hex\":\"64\"}}"
    private static let mostCentrals = 64

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(value, owner: "\"serve\"", keys: Self.keys, example: Self.example)
        switch (object["characteristic"], object["request"]) {
        case (let name?, nil): self = try Self.value(of: name, in: object)
        case (nil, let number?): self = try Self.answer(to: number, in: object)
        case (nil, nil):
            throw .malformed(
                "\"serve\" lacks \"characteristic\" and \"request\".",
                advice: "Write \(Self.example), or \(Self.answerExample) for one read.")
        case (_?, _?):
            throw ProtocolFault(
                .conflict, "\"serve\" holds both \"characteristic\" and \"request\".",
                advice: "Write two lines: a read's answer is for one central alone.")
        }
    }

    private static func value(of name: JSONValue, in object: RuleObject) throws(ProtocolFault) -> ServeOrder {
        guard let uuid = name.string.flatMap({ BluetoothUUID($0) }) else {
            throw object.fault("characteristic", takes: "a UUID in quotes", name, advice: "Write \(example).")
        }
        if object["refuse"] != nil {
            throw ProtocolFault(
                .conflict, "\"serve\" holds \"refuse\" without \"request\".", advice: "Name the read by its request.")
        }
        return .value(try bytes(in: object), uuid, centrals: try centrals(in: object))
    }

    private static func answer(to number: JSONValue, in object: RuleObject) throws(ProtocolFault) -> ServeOrder {
        guard let request = number.integer, request > 0 else {
            throw object.fault(
                "request", takes: "the number of a read", number, advice: "Copy \"request\" of peripheral.read.")
        }
        if object["centrals"] != nil {
            throw ProtocolFault(
                .conflict, "\"serve\" holds \"centrals\" with \"request\".",
                advice: "Leave it out: the answer goes to the central that reads.")
        }
        guard let refusal = object["refuse"] else { return .answer(request, try bytes(in: object)) }
        guard object["hex"] == nil else {
            throw ProtocolFault(.conflict, "\"serve\" holds both \"hex\" and \"refuse\".", advice: "Keep one of them.")
        }
        guard let code = refusal.integer, (0x80...0x9f).contains(code) else {
            throw object.fault(
                "refuse", takes: "an error of the application from 128 to 159", refusal, advice: "Write 128.")
        }
        return .refusal(request, code: UInt8(code))
    }

    private static func bytes(in object: RuleObject) throws(ProtocolFault) -> [UInt8] {
        guard let hex = object["hex"] else { throw .malformed("\"serve\" lacks \"hex\".", advice: "Write \(example).") }
        return try [UInt8](hex, "hex", of: "\"serve\"")
    }

    private static func centrals(in object: RuleObject) throws(ProtocolFault) -> Set<String>? {
        guard let list = object["centrals"] else { return nil }
        let names = list.array?.compactMap(\.string) ?? []
        guard !names.isEmpty, names.count == list.array?.count, names.count <= mostCentrals else {
            throw object.fault(
                "centrals", takes: "a list of 1 to \(mostCentrals) addresses", list,
                advice: "Copy \"central\" of peripheral.subscribed, or leave it out for all.")
        }
        return Set(names)
    }
}

extension ServeOrder {
    func check(_ machine: PeripheralMachine) throws(ProtocolFault) {
        guard case .value(_, let uuid, let centrals) = self else { return try checkRead(machine) }
        guard let characteristic = machine.rule.characteristic(uuid) else {
            let known = machine.rule.characteristics.map(\.uuid.description)
            throw ProtocolFault(
                .notRegistered,
                "serve \"\(uuid)\": this handler's manifest declares no such characteristic\(nearest(to: uuid.description, in: known)).",
                advice: "Write one of \(known.listed), or declare it in \"peripheral\" of the manifest.")
        }
        guard characteristic.isNotified || characteristic.isReadable && centrals == nil else {
            throw ProtocolFault(
                .conflict,
                "serve \"\(uuid)\": centrals can \(characteristic.isReadable ? "only read" : "neither read nor subscribe to") it.",
                advice: "Add \"notify\" to its properties in the manifest.")
        }
        let known = Set(machine.subscribers.keys.filter { $0.characteristic == uuid }.map(\.central))
        guard let stranger = centrals?.subtracting(known).min() else { return }
        throw ProtocolFault(
            .notConnected, "serve \"\(uuid)\": the central \"\(stranger)\" has not subscribed to it.",
            advice: known.isEmpty ? "Wait for peripheral.subscribed." : "Write one of \(known.sorted().listed).")
    }

    private func checkRead(_ machine: PeripheralMachine) throws(ProtocolFault) {
        let number =
            switch self {
            case .answer(let number, _), .refusal(let number, _): number
            case .value: Int64(0)
            }
        guard machine.reads[number] == nil else { return }
        throw ProtocolFault(
            .tooLate, "serve \(number): no read of that number waits for an answer.",
            advice: "Answer within \"within_ms\" of peripheral.read; the central got the last value.")
    }

    /// Answers with `served`, or `behind` where a subscriber does not get the value now.
    func perform(on machine: inout PeripheralMachine) -> String {
        switch self {
        case .value(let value, let uuid, let centrals):
            return machine.serve(value, as: uuid, to: centrals) ? "served" : "behind"
        case .answer(let number, let value): _ = machine.answer(number, with: value)
        case .refusal(let number, let code): _ = machine.refuse(number, with: code)
        }
        return "served"
    }
}
