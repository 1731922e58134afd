// The state of one handler's peripheral: its registration, its subscribers, and the requests of centrals that wait. Pure.
import WakeModel

/// Follows what it is asked for as a list of ``Effect``. Instants are of CLOCK_BOOTTIME, and only ever given to it.
struct PeripheralMachine: Sendable {
    enum Link: Hashable, Sendable {
        /// Its handler may not run, so nothing is served.
        case withdrawn
        /// Asked for, and hindered by this where that is known.
        case offered(PeripheralHindrance?)
        case registered
    }

    enum Effect: Hashable, Sendable {
        case command(PeripheralCommand)
        /// Answered with ``raised(_:as:)`` or ``refused(_:)`` of the same number.
        case raise(Int64, Occasion, isAuthenticated: Bool)
        /// Nobody waits for its answer any more.
        case recall(Sequence)
        /// A number of writes were lost before they were raised.
        case lose(UInt64, since: WallTime)
        case storeSubscribers
        case storeValue(BluetoothUUID)
    }

    /// A subscriber as the handler knows it.
    struct Subscriber: Hashable, Sendable {
        var isBonded: Bool
        /// Bytes; a value has three fewer.
        var mtu: Int
        /// Until when it may come back unnoticed; nil while it is there.
        var awayUntil: Instant?
        /// Values that bluetoothd has not taken yet.
        var unsent = 0
        /// The latest value did not go to it.
        var isBehind = false
    }

    struct WaitingRead: Hashable, Sendable {
        var read: PeripheralRead
        var deadline: Instant
        var sequence: Sequence?
    }

    private(set) var rule: PeripheralRule
    private(set) var link = Link.withdrawn
    /// As it was ordered last.
    private(set) var advertisement: PeripheralAdvertisement?
    private(set) var isAdvertised = false
    private(set) var advertisingHindrance: PeripheralHindrance?
    /// The values that its handler served; others have the manifest's.
    private(set) var served: [BluetoothUUID: [UInt8]] = [:]
    private(set) var subscribers: [PeripheralSubscription: Subscriber] = [:]
    private(set) var reads: [Int64: WaitingRead] = [:]
    /// The answer of the first part of a long read, by reader.
    private var longReads: [PeripheralSubscription: [UInt8]] = [:]
    /// By the number of the event that is being raised, the write that it confirms.
    private var raising: [Int64: UInt64?] = [:]
    /// Events that the handler has not concluded, each with its own number.
    private(set) var open: [Sequence: Int64] = [:]
    private var lost: (count: UInt64, since: WallTime)?
    private var nextNumber: Int64
    private var effects: [Effect] = []

    /// Bluetoothd fails a request after 5 s (src/shared/gatt-db.c), and its answer takes a moment.
    static let readPatience = TimeSpan.milliseconds(4_500)
    /// How long a subscriber may be away with bluetoothd or the bridge.
    static let absence = TimeSpan.seconds(30)
    /// A handler that is so far behind gets no more events before it has concluded some.
    static let mostOpen = 256
    static let mostReads = 16
    /// Values of one characteristic that wait for bluetoothd.
    static let mostUnsent = 32
    private static let slow = TimeSpan.seconds(1)
    private static let quick = TimeSpan.milliseconds(100)

    /// - Parameter firstNumber: above those of earlier lives, since an order may name one.
    init(_ rule: PeripheralRule, firstNumber: Int64) { (self.rule, nextNumber) = (rule, firstNumber) }

    mutating func removeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    /// When ``advance(at:)`` has to be called again.
    var deadline: Instant? {
        let instants = reads.values.map(\.deadline) + subscribers.values.compactMap(\.awayUntil)
        return instants.min()
    }

    /// The last served value, or the manifest's.
    func value(of uuid: BluetoothUUID) -> [UInt8] { served[uuid] ?? rule.characteristic(uuid)?.value ?? [] }

    private var canRaise: Bool { open.count + raising.count < Self.mostOpen }

    // MARK: Registration

    /// Follows whether the handler may run, and whether a person is attached to it.
    mutating func settle(mayRun: Bool, isAttached: Bool) {
        switch (link, mayRun) {
        case (.withdrawn, true):
            link = .offered(nil)
            order(.offer(rule))
        case (.offered, false), (.registered, false): withdraw()
        case (.withdrawn, false), (.offered, true), (.registered, true): break
        }
        let wanted = mayRun ? wantedAdvertisement(isAttached: isAttached) : nil
        guard wanted != advertisement else { return }
        (advertisement, isAdvertised, advertisingHindrance) = (wanted, false, nil)
        order(.advertise(wanted))
    }

    /// Subscribers have to subscribe again: their handler is stopped, and begins anew.
    mutating func withdraw() {
        guard link != .withdrawn else { return }
        link = .withdrawn
        (advertisement, isAdvertised, advertisingHindrance) = (nil, false, nil)
        for number in reads.keys.sorted() { fail(number) }
        longReads = [:]
        subscribers = [:]
        order(.withdraw)
        effects.append(.storeSubscribers)
    }

    /// Bluetoothd reads the services only once, so other services begin another registration.
    mutating func adopt(_ rule: PeripheralRule, at now: Instant) {
        let isSame = rule.services == self.rule.services && rule.adapter == self.rule.adapter
        self.rule = rule
        for uuid in served.keys where rule.characteristic(uuid)?.isReadable != true { served[uuid] = nil }
        guard !isSame, link != .withdrawn else { return }
        lose(.offered(nil), at: now)
        (advertisement, isAdvertised) = (nil, false)
        for subscription in subscribers.keys where rule.characteristic(subscription.characteristic)?.isNotified != true
        {
            subscribers[subscription] = nil
        }
        order(.withdraw)
        order(.offer(rule))
    }

    private func wantedAdvertisement(isAttached: Bool) -> PeripheralAdvertisement? {
        switch rule.advertising {
        case .never: return nil
        case .attached where !isAttached: return nil
        case .always, .attached: break
        }
        return PeripheralAdvertisement(
            name: rule.naming == .always || isAttached ? rule.name : nil,
            interval: rule.interval ?? (isAttached ? Self.quick : Self.slow),
            services: rule.services.filter(\.isAdvertised).map(\.uuid))
    }

    // MARK: Reports

    mutating func hear(_ report: PeripheralReport, at now: Instant, _ wall: WallTime) {
        guard link != .withdrawn else { return refuse(report) }
        switch report {
        case .registered: link = .registered
        case .hindered(let hindrance): link = .offered(hindrance)
        case .lost(let hindrance): lose(.offered(hindrance), at: now)
        case .advertised(let hindrance):
            (isAdvertised, advertisingHindrance) = (hindrance == nil && advertisement != nil, hindrance)
        case .written(let write): receive(write, wall)
        case .read(let read): receive(read, at: now, wall)
        case .subscribed(let subscription, let isBonded, let mtu):
            subscribe(subscription, isBonded: isBonded, mtu: mtu, wall)
        case .unsubscribed(let subscription):
            if subscribers[subscription] != nil { unsubscribe(subscription, "central", wall) }
        case .confirmed(let subscription):
            guard let subscriber = subscribers[subscription] else { return }
            let central = PeripheralCentral(subscription.central, isBonded: subscriber.isBonded)
            raise("confirmed", subscription.characteristic, central, wall)
        case .sent(let subscription, let count): recordSent(count, to: subscription)
        }
    }

    /// Requests that were under way when it was withdrawn fail.
    private mutating func refuse(_ report: PeripheralReport) {
        switch report {
        case .written(let write): order(.refuse(request: write.request, .busy))
        case .read(let read): order(.refuse(request: read.request, .busy))
        default: break
        }
    }

    private mutating func lose(_ next: Link, at now: Instant) {
        link = next
        (isAdvertised, advertisingHindrance) = (false, nil)
        longReads = [:]
        for number in reads.keys.sorted() { end(number) }
        for subscription in subscribers.keys where subscribers[subscription]?.awayUntil == nil {
            subscribers[subscription]?.awayUntil = now + Self.absence
            subscribers[subscription]?.unsent = 0
        }
    }

    // MARK: Writes

    private mutating func receive(_ write: PeripheralWrite, _ wall: WallTime) {
        guard let characteristic = rule.characteristic(write.characteristic), characteristic.isWritable else {
            return order(.refuse(request: write.request, .notPermitted))
        }
        guard characteristic.permits(write.central) else { return order(.refuse(request: write.request, .notBonded)) }
        guard canRaise else {
            // Bluetoothd has confirmed it already, so only its handler can learn of the loss.
            if !characteristic.confirmsWrites { countLoss(wall) }
            return order(.refuse(request: write.request, .busy))
        }
        raise("written", write.characteristic, write.central, wall, confirming: write.request) { writer in
            writer.key("hex")
            writer.hexadecimal(write.bytes)
            if write.offset > 0 { writer.field("offset", write.offset) }
            writer.field("with_response", characteristic.confirmsWrites)
        }
    }

    // MARK: Reads

    private mutating func receive(_ read: PeripheralRead, at now: Instant, _ wall: WallTime) {
        guard let characteristic = rule.characteristic(read.characteristic), characteristic.isReadable else {
            return order(.refuse(request: read.request, .notPermitted))
        }
        guard characteristic.permits(read.central) else { return order(.refuse(request: read.request, .notBonded)) }
        if read.offset > 0, let value = longReads[read.reader] { return answer(read, with: value) }
        guard characteristic.isDynamic, read.offset == 0, reads.count < Self.mostReads, canRaise else {
            return answer(read, with: value(of: read.characteristic))
        }
        let number = nextNumber
        reads[number] = WaitingRead(read: read, deadline: now + Self.readPatience)
        raise("read", read.characteristic, read.central, wall) { writer in
            writer.field("request", number)
            writer.field("within_ms", Self.readPatience.wholeMilliseconds)
        }
    }

    private mutating func answer(_ read: PeripheralRead, with value: [UInt8]) {
        guard read.offset <= value.count else { return order(.refuse(request: read.request, .offset)) }
        if read.offset == 0 {
            // Centrals may change their addresses as often as they like.
            if longReads.count >= Self.mostReads { longReads = [:] }
            longReads[read.reader] = value
        }
        order(.answer(request: read.request, Array(value[read.offset...])))
    }

    /// Answers a read that waits; false where none of this number does.
    mutating func answer(_ number: Int64, with value: [UInt8]) -> Bool {
        guard let waiting = reads[number] else { return false }
        reads[number] = nil
        answer(waiting.read, with: value)
        return true
    }

    mutating func refuse(_ number: Int64, with code: UInt8) -> Bool {
        guard let waiting = reads.removeValue(forKey: number) else { return false }
        order(.refuse(request: waiting.read.request, .application(code)))
        return true
    }

    /// Its handler was not in time, or cannot answer any more.
    private mutating func fail(_ number: Int64) {
        guard let waiting = reads[number] else { return }
        end(number)
        answer(waiting.read, with: value(of: waiting.read.characteristic))
    }

    private mutating func end(_ number: Int64) {
        guard let waiting = reads.removeValue(forKey: number), let sequence = waiting.sequence else { return }
        effects.append(.recall(sequence))
    }

    // MARK: Subscribers

    private mutating func subscribe(
        _ subscription: PeripheralSubscription, isBonded: Bool, mtu: Int, _ wall: WallTime
    ) {
        guard rule.characteristic(subscription.characteristic)?.isNotified == true else { return }
        let isKnown = subscribers[subscription] != nil
        let isBehind = subscribers[subscription]?.isBehind ?? false
        subscribers[subscription] = Subscriber(isBonded: isBonded, mtu: mtu, isBehind: isBehind)
        effects.append(.storeSubscribers)
        guard !isKnown else { return catchUp(subscription) }
        let central = PeripheralCentral(subscription.central, isBonded: isBonded)
        raise("subscribed", subscription.characteristic, central, wall) { $0.field("mtu", mtu) }
    }

    private mutating func unsubscribe(_ subscription: PeripheralSubscription, _ reason: String, _ wall: WallTime) {
        guard let subscriber = subscribers.removeValue(forKey: subscription) else { return }
        effects.append(.storeSubscribers)
        let central = PeripheralCentral(subscription.central, isBonded: subscriber.isBonded)
        raise("unsubscribed", subscription.characteristic, central, wall) { $0.field("reason", reason) }
    }

    /// Sets the value, and sends it to the subscribers; false where any of them does not get it now.
    /// - Parameter centrals: nil for all; others do not get it, and the value stays as it is.
    mutating func serve(_ value: [UInt8], as uuid: BluetoothUUID, to centrals: Set<String>?) -> Bool {
        if centrals == nil {
            served[uuid] = value
            if rule.characteristic(uuid)?.isReadable == true { effects.append(.storeValue(uuid)) }
        }
        // Bluetoothd takes an empty value for the end of the stream.
        guard !value.isEmpty, rule.characteristic(uuid)?.isNotified == true else { return true }
        let targets = subscribers.keys.filter { $0.characteristic == uuid && centrals?.contains($0.central) ?? true }
        return targets.sorted().map { send(value, to: $0) }.allSatisfy { $0 }
    }

    private mutating func send(_ value: [UInt8], to subscription: PeripheralSubscription) -> Bool {
        guard var subscriber = subscribers[subscription] else { return true }
        let hasRoom = subscriber.awayUntil == nil && subscriber.unsent < Self.mostUnsent
        subscriber.isBehind = !hasRoom
        if hasRoom {
            subscriber.unsent += 1
            order(.send(value, subscription))
        }
        subscribers[subscription] = subscriber
        return hasRoom
    }

    private mutating func recordSent(_ count: Int, to subscription: PeripheralSubscription) {
        guard let subscriber = subscribers[subscription] else { return }
        subscribers[subscription]?.unsent = max(0, subscriber.unsent - count)
        catchUp(subscription)
    }

    /// Sends the latest value to one that did not get it.
    private mutating func catchUp(_ subscription: PeripheralSubscription) {
        guard subscribers[subscription]?.isBehind == true, let value = served[subscription.characteristic],
            !value.isEmpty
        else { return }
        _ = send(value, to: subscription)
    }

    // MARK: Time

    mutating func advance(at now: Instant, _ wall: WallTime) {
        for (number, waiting) in reads.sorted(by: { $0.key < $1.key }) where waiting.deadline <= now { fail(number) }
        for subscription in subscribers.keys.sorted() {
            if let until = subscribers[subscription]?.awayUntil, until <= now {
                unsubscribe(subscription, "lost", wall)
            }
        }
    }

    // MARK: Events

    private mutating func order(_ command: PeripheralCommand) { effects.append(.command(command)) }

    private mutating func raise(
        _ word: String, _ characteristic: BluetoothUUID, _ central: PeripheralCentral, _ wall: WallTime,
        confirming request: UInt64? = nil, _ write: (inout JSONWriter) -> Void = { _ in }
    ) {
        guard canRaise else { return countLoss(wall) }
        reportLoss()
        let payload = JSONWriter.whole { writer in
            if let service = rule.service(of: characteristic) { writer.field("service", service.description) }
            writer.field("characteristic", characteristic.description)
            writer.field("central", central.address)
            writer.field("bonded", central.isBonded)
            write(&writer)
        }
        raising[nextNumber] = .some(request)
        let occasion = Occasion(name: "peripheral.\(word)", budgetClass: .data, payload: payload)
        effects.append(.raise(nextNumber, occasion, isAuthenticated: central.isBonded))
        nextNumber += 1
    }

    /// The journal has it, or will with the commit that precedes the confirmation.
    mutating func raised(_ number: Int64, as sequence: Sequence) {
        guard let request = raising.removeValue(forKey: number) else { return }
        open[sequence] = number
        if reads[number] != nil { reads[number]?.sequence = sequence }
        if let request { order(.confirm(request: request)) }
    }

    /// The core knows no such handler any more.
    mutating func refused(_ number: Int64) {
        guard let request = raising.removeValue(forKey: number) else { return }
        if let request { order(.refuse(request: request, .busy)) }
        fail(number)
    }

    /// The handler is done with the event; a read that it left unanswered ends in its own time.
    mutating func conclude(_ number: Int64) {
        guard let sequence = open.first(where: { $0.value == number })?.key else { return }
        open[sequence] = nil
        if open.count < Self.mostOpen / 2 { reportLoss() }
    }

    private mutating func countLoss(_ wall: WallTime) { lost = ((lost?.count ?? 0) + 1, lost?.since ?? wall) }

    private mutating func reportLoss() {
        guard let lost else { return }
        effects.append(.lose(lost.count, since: lost.since))
        self.lost = nil
    }

    // MARK: Restoring

    mutating func restore(_ value: [UInt8], of uuid: BluetoothUUID) {
        if rule.characteristic(uuid)?.isReadable == true { served[uuid] = value }
    }

    /// Subscribers of an earlier life of the bridge, which may come back.
    mutating func restore(_ subscriptions: [PeripheralSubscription: Subscriber], at now: Instant) {
        for (subscription, subscriber) in subscriptions
        where rule.characteristic(subscription.characteristic)?.isNotified == true {
            var subscriber = subscriber
            subscriber.awayUntil = now + Self.absence
            subscribers[subscription] = subscriber
        }
    }
}

extension PeripheralCharacteristic {
    fileprivate func permits(_ central: PeripheralCentral) -> Bool { security != .bonded || central.isBonded }
}

extension PeripheralRead {
    fileprivate var reader: PeripheralSubscription { PeripheralSubscription(characteristic, central.address) }
}
