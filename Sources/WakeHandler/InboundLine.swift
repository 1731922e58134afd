// Parses one line of stdin into an event or a notice. Types that this version does not know are ignored, never fatal.
internal import WakeModel

enum InboundLine {
    case event(AccessoryEvent, budget: Duration)
    case restored(Restoration)
    case resumed(frozenFor: Duration, reason: String, open: [UInt64])
    case expiring(reason: String, remaining: Duration)
    case remaining(Duration, reference: Int64?)
    case reply(bytes: [UInt8], reference: Int64?)
    case error(BridgeError, reference: Int64?)
    case terminating(reason: String, within: Duration)
    case memory(level: String)
    /// A notice of a later version, or one that needs no action.
    case other

    /// Nil where the line is no JSON object of the protocol.
    init?(_ line: ArraySlice<UInt8>) {
        guard let json = try? JSONValue(parsing: line), let type = json["type"]?.string else { return nil }
        if let event = AccessoryEvent(json, type: type) {
            self = .event(event, budget: json.milliseconds("budgetms"))
        } else if let data = json["data"] {
            self.init(notice: type, data)
        } else {
            return nil
        }
    }

    private init(notice type: String, _ data: JSONValue) {
        let reference = data["ref"]?.integer
        switch type {
        case "wakebridge.restored": self = .restored(Restoration(data))
        case "wakebridge.resumed":
            self = .resumed(
                frozenFor: data.milliseconds("frozen_for_ms"), reason: data.text("reason"), open: data.sequences("open")
            )
        case "wakebridge.expiring":
            self = .expiring(reason: data.text("reason"), remaining: data.milliseconds("remaining_ms"))
        case "wakebridge.remaining": self = .remaining(data.milliseconds("remaining_ms"), reference: reference)
        case "wakebridge.reply":
            self = .reply(bytes: data["hex"]?.string.flatMap { [UInt8](hexadecimal: $0) } ?? [], reference: reference)
        case "wakebridge.error": self = .error(BridgeError(data), reference: reference)
        case "wakebridge.terminating":
            self = .terminating(reason: data.text("reason"), within: data.milliseconds("in_ms"))
        case "wakebridge.memory": self = .memory(level: data.text("level"))
        default: self = .other
        }
    }
}

extension AccessoryEvent {
    /// Nil where the line has no `seq`: such lines need no acknowledgement.
    fileprivate init?(_ json: JSONValue, type: String) {
        guard let sequence = json["seq"]?.integer, sequence > 0 else { return nil }
        let data = json["data"] ?? .object([])
        kind = Kind(type: type, data)
        id = json.text("id")
        self.sequence = UInt64(sequence)
        attempt = json["attempt"]?.integer.map(Int.init) ?? 1
        isRedelivered = json["redelivered"]?.boolean ?? false
        device = json.text("subject")
        source = json.text("source")
        isAuthenticated = json["authenticated"]?.boolean ?? false
        time = json.text("time")
        isClockSynchronized = data["clock_synced"]?.boolean ?? true
        profile = data["profile"]?.string
    }
}

extension AccessoryEvent.Kind {
    fileprivate init(type: String, _ data: JSONValue) {
        let folded = data["folded"]?.integer.map(Int.init) ?? 0
        switch type {
        case "wakebridge.device.connected": self = .connected(folded: folded)
        case "wakebridge.device.disconnected": self = .disconnected(reason: data.text("reason"), folded: folded)
        case "wakebridge.device.data": self = .data(AccessoryData(data))
        case "wakebridge.device.gap": self = .gap(AccessoryGap(data))
        case "wakebridge.device.attention":
            self = .attention(kind: data.text("kind"), detail: data["detail"]?.string)
        default: self = .unknown(type: type)
        }
    }
}

extension AccessoryData {
    fileprivate init(_ data: JSONValue) {
        characteristic = data["characteristic"]?.string
        stream = data["stream"]?.string
        bytes = data["raw"]?.string.flatMap { [UInt8](hexadecimal: $0) } ?? []
        undecodable = data["undecodable"]?.string
        fragment = data["fragment"]?.string
        value = data["value"].map(DecodedValue.init)
    }
}

extension AccessoryGap {
    fileprivate init(_ data: JSONValue) {
        cause = data.text("cause")
        count = data["count"]?.integer.map(Int.init)
        from = data.text("from")
        to = data.text("to")
    }
}

extension BridgeError {
    fileprivate init(_ data: JSONValue) {
        code = data.text("code")
        sentence = data.text("sentence")
        advice = data.text("advice")
    }
}

extension Restoration {
    fileprivate init(_ data: JSONValue) {
        reason = data.text("reason")
        devices = (data["devices"]?.array ?? []).map(Device.init)
        checkpoint = data["checkpoint"]?.string
    }
}

extension Restoration.Device {
    fileprivate init(_ data: JSONValue) {
        name = data.text("device")
        source = data.text("source")
        profile = data["profile"]?.string
        isConnected = data["connected"]?.boolean ?? false
    }
}

extension JSONValue {
    fileprivate func text(_ name: String) -> String { self[name]?.string ?? "" }
    fileprivate func milliseconds(_ name: String) -> Duration { .milliseconds(self[name]?.integer ?? 0) }
    fileprivate func sequences(_ name: String) -> [UInt64] {
        (self[name]?.array ?? []).compactMap { $0.integer.flatMap { UInt64(exactly: $0) } }
    }
}
