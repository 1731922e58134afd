// Parses one line of stdin into an event or a notice. Types that this version does not know are ignored, never fatal.
internal import WakeModel

enum InboundLine {
    case event(BackgroundEvent, budget: Duration)
    case resumed(frozenFor: Duration, reason: WakeReason, open: [UInt64])
    case expiring(Duration, reason: ExpirationReason, open: [UInt64])
    case remaining(Duration, reference: Int64?)
    case reply(bytes: [UInt8], reference: Int64?)
    /// The answer to an order.
    case scheduled(ScheduleAnswer, reference: Int64?)
    case error(BridgeError, reference: Int64?)
    /// A notice that changes nothing in the session's books but its deadline.
    case notice(SessionNotice)
    /// A notice of a later version.
    case other

    /// Nil where the line is no JSON object of the protocol.
    init?(_ line: ArraySlice<UInt8>) {
        guard let json = try? JSONValue(parsing: line), let type = json["type"]?.string else { return nil }
        if let event = BackgroundEvent(json, type: type) {
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
        case "wakebridge.resumed":
            self = .resumed(
                frozenFor: data.milliseconds("frozen_for_ms"), reason: data.word("reason"), open: data.sequences("open")
            )
        case "wakebridge.expiring":
            self = .expiring(
                data.milliseconds("remaining_ms"), reason: data.word("reason"), open: data.sequences("open"))
        case "wakebridge.remaining": self = .remaining(data.milliseconds("remaining_ms"), reference: reference)
        case "wakebridge.reply" where data["pending"] != nil:
            self = .scheduled(ScheduleAnswer(data), reference: reference)
        case "wakebridge.reply":
            self = .reply(bytes: data.hexadecimal("hex") ?? [], reference: reference)
        case "wakebridge.error": self = .error(BridgeError(data), reference: reference)
        default: self = SessionNotice(type: type, data).map(InboundLine.notice) ?? .other
        }
    }
}

extension SessionNotice {
    /// Nil for a type that this version does not know.
    fileprivate init?(type: String, _ data: JSONValue) {
        switch type {
        case "wakebridge.restored": self = .restored(Restoration(data))
        case "wakebridge.terminating": self = .terminating(in: data.milliseconds("in_ms"), reason: data.word("reason"))
        case "wakebridge.memory": self = .memoryWarning(data.word("level"))
        case "wakebridge.time": self = .clockJumped(by: data.milliseconds("step_ms"))
        case "wakebridge.bridge":
            self = .conditionChanged(data.word("condition"), detail: data["detail"]?.string)
        case "wakebridge.storage":
            self = .storageChanged(path: data.text("path"), isAvailable: data["available"]?.boolean ?? false)
        default: return nil
        }
    }
}

extension BackgroundEvent {
    /// Nil where the line has no `seq`: such lines need no acknowledgement.
    fileprivate init?(_ json: JSONValue, type: String) {
        guard let sequence = json["seq"]?.integer, sequence > 0 else { return nil }
        let data = json["data"] ?? .object([])
        (name, source) = (json.text("subject"), json.text("source"))
        let device = {
            NamedDevice(name: json.text("subject"), identifier: json.text("source"), profile: data["profile"]?.string)
        }
        kind = Kind(device: device, type: type, data) ?? Kind(type: type, data)
        id = json.text("id")
        self.sequence = UInt64(sequence)
        attempt = json["attempt"]?.integer.map(Int.init) ?? 1
        isRedelivered = json["redelivered"]?.boolean ?? false
        isAuthenticated = json["authenticated"]?.boolean ?? false
        time = json.time("time")
        isClockSynchronized = data["clock_synced"]?.boolean ?? true
    }
}

extension BackgroundEvent.Kind {
    /// Nil for what no device raised.
    fileprivate init?(device: () -> NamedDevice, type: String, _ data: JSONValue) {
        guard let word = DeviceWord(type) else { return nil }
        switch device() {
        case .peripheral(let peripheral): self = .peripheral(peripheral, PeripheralEvent(word, data))
        case .accessory(let accessory): self = .accessory(accessory, AccessoryEvent(word, data))
        }
    }

    fileprivate init(type: String, _ data: JSONValue) {
        switch type {
        case "wakebridge.alarm.fired": self = .alarm(FiredAlarm(data))
        case "wakebridge.poll.due": self = .fetch(DueFetch(data))
        case "wakebridge.job.due": self = .task(DueTask(data))
        case "wakebridge.region.entered": self = .region(RegionChange(data, isEntered: true))
        case "wakebridge.region.exited": self = .region(RegionChange(data, isEntered: false))
        case "wakebridge.message.received": self = .message(ReceivedMessage(data))
        default:
            self =
                FlowChange(type: type, data).map { .flow($0) } ?? TransferChange(type: type, data).map { .transfer($0) }
                ?? SocketEvent(type: type, data).map { .socket($0) } ?? CentralEvent(type: type, data).map {
                    .central($0)
                }
                ?? .other(type: type)
        }
    }
}

/// How the type of a line names what a device did.
private enum DeviceWord: String {
    case connected, disconnected, data, gap, attention

    init?(_ type: String) {
        let prefix = "wakebridge.device."
        guard type.hasPrefix(prefix) else { return nil }
        self.init(rawValue: String(type.dropFirst(prefix.count)))
    }
}

extension PeripheralEvent {
    fileprivate init(_ word: DeviceWord, _ data: JSONValue) {
        switch word {
        case .connected: self = .connected(folded: data.wholeNumber("folded"))
        case .disconnected: self = .disconnected(reason: data.word("reason"), folded: data.wholeNumber("folded"))
        case .data: self = .data(PeripheralData(data))
        case .gap: self = .gap(EventGap(data))
        case .attention: self = .attention(kind: data.word("kind"), detail: data["detail"]?.string)
        }
    }
}

extension AccessoryEvent {
    fileprivate init(_ word: DeviceWord, _ data: JSONValue) {
        switch word {
        case .connected: self = .connected(folded: data.wholeNumber("folded"))
        case .disconnected: self = .disconnected(reason: data.word("reason"), folded: data.wholeNumber("folded"))
        case .data: self = .data(AccessoryData(data))
        case .gap: self = .gap(EventGap(data))
        case .attention: self = .attention(kind: data.word("kind"), detail: data["detail"]?.string)
        }
    }
}

extension PeripheralData {
    fileprivate init(_ data: JSONValue) {
        characteristic = data["characteristic"]?.string.flatMap { Characteristic($0) }
        bytes = data.hexadecimal("raw") ?? []
        undecodable = data["undecodable"]?.string
        value = data["value"].map(DecodedValue.init)
    }
}

extension AccessoryData {
    fileprivate init(_ data: JSONValue) {
        stream = data["stream"]?.string
        bytes = data.hexadecimal("raw") ?? []
        undecodable = data["undecodable"]?.string
        fragment = data["fragment"]?.string.map(Fragment.init(word:))
        value = data["value"].map(DecodedValue.init)
    }
}

extension CentralEvent {
    /// Nil for another type.
    fileprivate init?(type: String, _ data: JSONValue) {
        switch type {
        case "wakebridge.peripheral.written":
            kind = .written(data.hexadecimal("hex") ?? [], offset: data.wholeNumber("offset"))
        case "wakebridge.peripheral.read":
            kind = .read(
                CentralReadRequest(
                    number: data["request"]?.integer ?? 0, remaining: data.milliseconds("within_ms")))
        // An update has three bytes that are no value.
        case "wakebridge.peripheral.subscribed":
            kind = .subscribed(maximumUpdateValueLength: max(20, data.wholeNumber("mtu") - 3))
        case "wakebridge.peripheral.unsubscribed": kind = .unsubscribed(data.word("reason"))
        case "wakebridge.peripheral.confirmed": kind = .confirmed
        default: return nil
        }
        central = Central(identifier: data.text("central"), isBonded: data["bonded"]?.boolean ?? false)
        service = data.text("service")
        characteristic = Characteristic(data.text("characteristic")) ?? 0
    }
}

extension LocalPeripheralState {
    fileprivate init(_ data: JSONValue) {
        isRegistered = data["registered"]?.boolean ?? false
        isAdvertising = data["advertising"]?.boolean ?? false
        subscriptions = (data["subscribers"]?.array ?? []).compactMap { entry in
            Characteristic(entry.text("characteristic")).map {
                CentralSubscription(central: entry.text("central"), characteristic: $0)
            }
        }
    }
}

extension FlowChange {
    /// Nil for another type.
    fileprivate init?(type: String, _ data: JSONValue) {
        name = data.text("name")
        switch type {
        case "wakebridge.flow.started": step = .started
        case "wakebridge.flow.interrupted": step = .interrupted(data.word("reason"))
        case "wakebridge.flow.ended": step = .ended(data.word("reason"))
        default: return nil
        }
    }
}

extension TransferChange {
    /// Nil for another type.
    fileprivate init?(type: String, _ data: JSONValue) {
        switch type {
        case "wakebridge.transfer.finished": self = .finished(FinishedTransfer(data))
        case "wakebridge.transfer.challenge": self = .challenge(TransferChallenge(data))
        case "wakebridge.transfer.settled":
            self = .settled(
                session: data.text("session"), finished: data.wholeNumber("finished"),
                failed: data.wholeNumber("failed"))
        default: return nil
        }
    }
}

extension SocketEvent {
    /// Nil for another type.
    fileprivate init?(type: String, _ data: JSONValue) {
        name = data.text("socket")
        switch type {
        case "wakebridge.socket.opened": kind = .opened
        case "wakebridge.socket.readable":
            kind = .readable((data["bytes"] ?? data["connections"])?.integer.flatMap { Int(exactly: $0) } ?? 0)
        case "wakebridge.socket.closed": kind = .closed(data.word("reason"))
        case "wakebridge.socket.keepalive": kind = .keepAlive(within: data.seconds("within_s"))
        default: return nil
        }
    }
}

extension FinishedTransfer {
    fileprivate init(_ data: JSONValue) {
        session = data.text("session")
        identifier = data.text("id")
        isDownload = data.text("method") == "GET"
        path = data.text("path")
        failure = data["why"]?.string.map(TransferFailure.init(word:))
        status = data["status"]?.integer.map(Int.init)
        sent = data.wholeNumber("sent")
        received = data.wholeNumber("received")
    }
}

extension TransferChallenge {
    fileprivate init(_ data: JSONValue) {
        session = data.text("session")
        identifier = data.text("id")
        address = data.text("url")
        realm = data.text("realm")
    }
}

extension FiredAlarm {
    fileprivate init(_ data: JSONValue) {
        identifier = data.text("id")
        due = data.time("due")
        lateBy = data.seconds("late_s")
        missed = data["missed"]?.integer.map(Int.init) ?? 0
        self.data = data["data"].map(DecodedValue.init)
        alert = data["alert"]?.string
    }
}

extension DueFetch {
    fileprivate init(_ data: JSONValue) {
        interval = data.seconds("interval_s")
        waived = data.texts("waived").map(RunCondition.init(word:))
        switch data["last"]?.string {
        case "useful": last = .newData
        case "nothing": last = .noData
        case "failed": last = .failed
        default: last = nil
        }
    }
}

extension DueTask {
    fileprivate init(_ data: JSONValue) {
        identifier = data.text("job")
        kind = data.word("kind")
        deadline = data.timeIfAny("deadline")
        waived = data.texts("waived").map(RunCondition.init(word:))
        returned = data["returned"]?.string.map(ExpirationReason.init(word:))
        missed = data["missed"]?.integer.map(Int.init) ?? 0
    }
}

extension RegionChange {
    fileprivate init(_ data: JSONValue, isEntered: Bool) {
        self.init(
            identifier: data.text("id"), isEntered: isEntered, isInitial: data["initial"]?.boolean ?? false)
    }
}

extension ReceivedMessage {
    fileprivate init(_ data: JSONValue) {
        identifier = data.text("id")
        (topic, brokerTopic) = (data["topic"]?.string, data["mqtt"]?.string)
        urgency = data["urgency"]?.string ?? "normal"
        contentType = data["content_type"]?.string
        payload = data.hexadecimal("raw") ?? Array(data.text("payload").utf8)
        received = data.time("received")
        collapsed = data["collapsed"]?.integer.map(Int.init) ?? 0
    }
}

extension PendingRequest {
    fileprivate init(_ data: JSONValue) {
        source = data.word("source")
        identifier = data.text("id")
        state = data.word("state")
        due = data.timeIfAny("due")
        deadline = data.timeIfAny("deadline")
        waitsFor = data.texts("waits_for")
        nextChance = data.timeIfAny("next_chance")
        sequence = data["event"]?.integer.flatMap { UInt64(exactly: $0) }
        bytesDone = source == .transfer ? data["done"]?.integer.map(Int.init) : nil
        bytesTotal = source == .transfer ? data["total"]?.integer.map(Int.init) : nil
    }
}

extension ScheduleAnswer {
    /// The answer of a later version.
    static var unknown: ScheduleAnswer { ScheduleAnswer(outcome: .other(""), startsIn: nil, pending: []) }

    fileprivate init(_ data: JSONValue) {
        // The answer to `pending` has no word.
        outcome = ScheduleOutcome(
            word: HandlerOrder.Verb.allCases.lazy.compactMap { data[$0.rawValue]?.string }.first ?? "")
        startsIn = data["starts_in_ms"]?.integer.map { .milliseconds($0) }
        pending = data.pendingRequests
    }
}

extension EventGap {
    fileprivate init(_ data: JSONValue) {
        cause = data.word("cause")
        count = data["count"]?.integer.map(Int.init)
        from = data.time("from")
        to = data.time("to")
    }
}

extension BridgeError {
    fileprivate init(_ data: JSONValue) {
        code = data.word("code")
        sentence = data.text("sentence")
        advice = data.text("advice")
    }
}

extension Restoration {
    fileprivate init(_ data: JSONValue) {
        reason = data.word("reason")
        var (peripherals, accessories): ([Peripheral], [Accessory]) = ([], [])
        let told = data["devices"]?.array ?? []
        for entry in told {
            let (name, identifier) = (entry.text("device"), entry.text("source"))
            switch NamedDevice(name: name, identifier: identifier, profile: entry["profile"]?.string) {
            case .peripheral(let peripheral): peripherals.append(peripheral)
            case .accessory(let accessory): accessories.append(accessory)
            }
        }
        (self.peripherals, self.accessories) = (peripherals, accessories)
        connected = Set(told.filter { $0["connected"]?.boolean ?? false }.map { $0.text("source") })
        checkpointText = data["checkpoint"]?.string
        pending = data.pendingRequests
        localPeripheral = data["peripheral"].map(LocalPeripheralState.init)
    }
}

extension JSONValue {
    fileprivate func text(_ name: String) -> String { self[name]?.string ?? "" }
    fileprivate func wholeNumber(_ name: String) -> Int { self[name]?.integer.map(Int.init) ?? 0 }
    fileprivate func hexadecimal(_ name: String) -> [UInt8]? { self[name]?.string.flatMap { [UInt8](hexadecimal: $0) } }
    fileprivate func word<Word: BridgeWord>(_ name: String) -> Word { Word(word: text(name)) }
    fileprivate func time(_ name: String) -> Timestamp { Timestamp(text(name)) ?? Timestamp(microsecondsSince1970: 0) }
    fileprivate func timeIfAny(_ name: String) -> Timestamp? { self[name]?.string.flatMap { Timestamp($0) } }
    fileprivate func texts(_ name: String) -> [String] { (self[name]?.array ?? []).compactMap(\.string) }
    fileprivate func seconds(_ name: String) -> Duration { .seconds(self[name]?.integer ?? 0) }
    fileprivate var pendingRequests: [PendingRequest] { (self["pending"]?.array ?? []).map(PendingRequest.init) }
    fileprivate func milliseconds(_ name: String) -> Duration { .milliseconds(self[name]?.integer ?? 0) }
    fileprivate func sequences(_ name: String) -> [UInt64] {
        (self[name]?.array ?? []).compactMap { $0.integer.flatMap { UInt64(exactly: $0) } }
    }
}
