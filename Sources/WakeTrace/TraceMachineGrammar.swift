// The grammar of lines without a device: `+60 machine sleep 28800`, and a handler's answers such as `{"ack":7}`.
import WakeModel

/// The conditions that a trace may contain, by their words.
package enum TraceCondition {
    package static let plain = ["power", "steady", "network", "unmetered", "idle", "storage", "time-synced", "cool"]
    /// Each is followed by `:` and a path.
    package static let ofPaths = ["mount", "unlocked"]
}

extension TraceLine {
    private enum MachineWord: String, CaseIterable { case condition, clock, synchronized, zone, sleep, restart, reboot }
    private enum HandlerWord: String, CaseIterable {
        case manifest, remove, say, message, transfer, readable, central, attach, detach, stop, start
    }
    private enum CentralWord: String, CaseIterable { case written, read, subscribed, unsubscribed }
    private enum TransferWord: String, CaseIterable { case done, failed, challenged }
    private enum Switch: String, CaseIterable { case on, off }

    /// Nil, and nothing is read, if the next word is neither `machine` nor `handler`.
    mutating func deed() throws(TraceError) -> TraceOperation.Subject? {
        let place = position
        let word = try token("`machine` or `handler`")
        if matches(word, "machine") { return .machine(try machineOperation()) }
        if matches(word, "handler") {
            let name = try handlerName()
            return .handler(name, try handlerOperation())
        }
        position = place
        return nil
    }

    /// Reads the part after `machine`.
    private mutating func machineOperation() throws(TraceError) -> MachineOperation {
        let operation: MachineOperation
        switch try word("what happens to the machine", MachineWord.self) {
        case .condition: operation = .condition(try condition(), isTrue: try isOn())
        case .clock: operation = .clock(try step())
        case .synchronized: operation = .synchronized(try isOn())
        case .zone:
            skipSpaces()
            operation = .zone(try zone())
        case .sleep: operation = .sleep(try length("the length of the sleep"))
        case .restart: operation = .restart
        case .reboot: operation = .reboot(try length("the time for which the machine is off"))
        }
        try expectEnd()
        return operation
    }

    private mutating func handlerName() throws(TraceError) -> String {
        skipSpaces()
        let place = position
        let name = try value("the handler's name")
        guard !name.isEmpty else { throw error("the handler's name is empty", at: place) }
        return name
    }

    /// Reads the part after the handler's name.
    private mutating func handlerOperation() throws(TraceError) -> HandlerOperation {
        let operation: HandlerOperation
        switch try word("what the handler does", HandlerWord.self) {
        case .manifest: operation = .manifest(try object("the manifest", such: "{\"poll\":{\"min_interval\":\"1h\"}}"))
        case .remove: operation = .remove
        case .say: operation = .say(try object("the line that the handler writes", such: "{\"ack\":7}"))
        case .message: operation = .message(try object("the message", such: "{\"payload\":\"hello\"}"))
        case .transfer: operation = .transfer(try transferName(), try transferEnd())
        case .readable: operation = try readable()
        case .central: operation = .central(try centralAddress(), try centralDeed())
        case .attach: operation = .attach
        case .detach: operation = .detach
        case .stop: operation = .stop
        case .start: operation = .start
        }
        try expectEnd()
        return operation
    }

    private mutating func transferName() throws(TraceError) -> String {
        skipSpaces()
        let place = position
        let name = try value("the name of the transfer")
        guard name.split(separator: "/", omittingEmptySubsequences: false).count == 2, !name.hasPrefix("/"),
            !name.hasSuffix("/")
        else { throw error("`\(name)` is no session and id such as photos/17", at: place) }
        return name
    }

    private mutating func transferEnd() throws(TraceError) -> TracedTransfer {
        switch try word("what becomes of the transfer", TransferWord.self) {
        case .done:
            skipSpaces()
            return .done(bytes: isAtEnd ? 0 : try byteCount())
        case .failed:
            skipSpaces()
            return .failed(try value("why the transfer failed"))
        case .challenged: return .challenged
        }
    }

    private mutating func byteCount() throws(TraceError) -> Int64 {
        let place = position
        let text = try value("the number of bytes")
        guard let count = Int64(text), (0...(1 << 50)).contains(count) else {
            throw error("`\(text)` is no number of bytes", at: place)
        }
        return count
    }

    private mutating func centralAddress() throws(TraceError) -> String {
        skipSpaces()
        let place = position
        let text = try value("the address of the central")
        guard RadioAddress(text) != nil else {
            throw error("`\(text)` is no address such as C0:00:00:00:00:01", at: place)
        }
        return text
    }

    private mutating func centralDeed() throws(TraceError) -> CentralDeed {
        switch try word("what the central does", CentralWord.self) {
        case .written: return .written(try centralUUID(), try writtenBytes())
        case .read: return .read(try centralUUID())
        case .subscribed: return .subscribed(try centralUUID())
        case .unsubscribed: return .unsubscribed(try centralUUID())
        }
    }

    private mutating func centralUUID() throws(TraceError) -> BluetoothUUID {
        skipSpaces()
        let place = position
        let text = try value("the UUID of the characteristic")
        guard let uuid = BluetoothUUID(text) else { throw error("`\(text)` is no UUID", at: place) }
        return uuid
    }

    /// An empty value has no text.
    private mutating func writtenBytes() throws(TraceError) -> [UInt8] {
        skipSpaces()
        guard !isAtEnd else { return [] }
        let place = position
        let text = try value("the bytes in hexadecimal")
        guard let bytes = [UInt8](hexadecimal: text), bytes.count <= 512 else {
            throw error("`\(text)` is no value of at most 512 bytes in hexadecimal", at: place)
        }
        return bytes
    }

    private mutating func readable() throws(TraceError) -> HandlerOperation {
        skipSpaces()
        let name = try value("the name of the socket")
        skipSpaces()
        let place = position
        let text = try value("the number of bytes")
        guard let bytes = Int64(text), (0...Self.mostUnread).contains(bytes) else {
            throw error("`\(text)` is no number of bytes from 0 to \(Self.mostUnread)", at: place)
        }
        return .readable(name, bytes: bytes)
    }

    private static let mostUnread: Int64 = 1 << 40

    /// A name of the zone database, which becomes part of a path.
    mutating func zone() throws(TraceError) -> String {
        let place = position
        let name = try value("the name of the zone")
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.allSatisfy({ part in part.first.map(isLetter) ?? false && part.allSatisfy(isOfZone) }) else {
            throw error("`\(name)` is no name of a time zone such as Europe/Berlin or UTC", at: place)
        }
        return name
    }

    private func isOfZone(_ byte: UInt8) -> Bool {
        isLetter(byte) || decimalDigit(byte) != nil || "+-_".utf8.contains(byte)
    }

    private mutating func isOn() throws(TraceError) -> Bool {
        switch try word("`on` or `off`", Switch.self) {
        case .on: true
        case .off: false
        }
    }

    private mutating func length(_ wanted: StaticString) throws(TraceError) -> TimeSpan {
        skipSpaces()
        return try span(wanted)
    }

    /// The sign is required, so that no time of day counts as a step.
    private mutating func step() throws(TraceError) -> TimeSpan {
        skipSpaces()
        guard let sign = next, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
            throw error("the step of the clock needs its sign: `+3600` sets it forward, `-3600` sets it back")
        }
        position += 1
        let span = try span("the step of the clock", within: .century)
        return sign == UInt8(ascii: "-") ? .zero - span : span
    }

    private mutating func condition() throws(TraceError) -> String {
        skipSpaces()
        let place = position
        let text = try value("the condition")
        if TraceCondition.plain.contains(text) { return text }
        let name = String(text.prefix { $0 != ":" })
        guard TraceCondition.ofPaths.contains(name) else {
            let known = TraceCondition.plain + TraceCondition.ofPaths
            throw error("unknown condition `\(text)`" + advice(on: name, among: known), at: place)
        }
        guard text.dropFirst(name.count).hasPrefix(":/") else {
            throw error("`\(name)` needs a path from the root, such as `\(name):/data`", at: place)
        }
        return text
    }

    /// JSON to the end of the line, kept as it was written: replays must not differ from the recording.
    private mutating func object(_ wanted: StaticString, such example: StaticString) throws(TraceError) -> String {
        skipSpaces()
        let first = position
        guard !isAtEnd else { throw error("\(wanted) is missing") }
        var last = end
        while last > first, bytes[last - 1] == UInt8(ascii: " ") || bytes[last - 1] == UInt8(ascii: "\t") { last -= 1 }
        position = end
        let value: JSONValue
        do throws(JSONValue.Fault) {
            value = try JSONValue(parsing: bytes[first..<last])
        } catch {
            throw self.error("\(wanted) is no JSON: \(error.reason)", at: first + error.offset)
        }
        guard case .object = value else {
            throw error("\(wanted) is no object such as \(example)", at: first)
        }
        return text(first..<last)
    }
}
