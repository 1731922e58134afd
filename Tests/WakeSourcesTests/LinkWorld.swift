// A peripheral that never stops speaking, a bluetoothd with all its faults and a kernel between them, in virtual time.
import TestBench
import WakeModel

@testable import WakeSources

final class LinkWorld {
    private(set) var machine: LinkMachine
    private(set) var accounts = LinkAccounts()
    var dice: Dice
    private let channels: [CharacteristicName]
    private var now = Instant.zero
    private var queue: [(at: Instant, number: Int, body: () -> Void)] = []
    private var number = 0
    /// What the machine was told and did, for whoever looks at a seed that failed.
    private(set) var trace: [String] = []
    var keepsTrace = false
    /// No more faults: all must come right by itself.
    var isCalm = false

    // The peripheral.
    var isInRange = true
    var isConfigured: Set<CharacteristicName> = []
    private let keepsConfiguration: Int
    private let hasReadableConfiguration: Bool
    private let canBeRead: Bool

    // The kernel's link, and how often there was another.
    var isLinkUp = false
    var link = 0

    // bluetoothd.
    private var life = 0
    var facts = LinkFacts()
    var clients: Set<CharacteristicName> = []
    var pathNumber = 0
    var isTrusted = true
    /// The kernel refuses it, and bluetoothd knows.
    private var isBlocked = false
    private var hasKernel = true
    private var hasAir = true
    private var isLinkOld = false

    init(seed: UInt64) {
        var dice = Dice(seed)
        channels = dice.isOne(in: 2) ? [heart] : [heart, battery]
        keepsConfiguration = dice.below(3)
        hasReadableConfiguration = !dice.isOne(in: 4)
        canBeRead = dice.isOne(in: 3)
        hasKernel = !dice.isOne(in: 3)
        hasAir = !dice.isOne(in: 3)
        let reads = dice.isOne(in: 3) ? [CharacteristicName(BluetoothUUID(short: 0x2a24))] : []
        var plan = LinkPlan(notify: channels, read: reads)
        if dice.isOne(in: 3) {
            let question = AskPlan.Question(to: .characteristic(BluetoothUUID(short: 0xfff2)), bytes: [1])
            plan.ask = AskPlan(start: [question], poll: [.init(question, every: .seconds(7), when: .always)])
        }
        machine = LinkMachine(
            plan, heardUntil: WallTime(microseconds: 0), patience: LinkTimeouts())
        self.dice = dice
        after(0) { [unowned self] in comeBack() }
        for (index, channel) in channels.enumerated() { speak(channel, every: .seconds(1), after: Int64(index) * 250) }
    }

    // MARK: Time

    var stamp: Stamp {
        Stamp(
            moment: Moment(monotonic: now, boottime: now),
            wall: WallTime(microseconds: 1_000_000 + now.nanoseconds / 1000))
    }

    private func after(_ milliseconds: Int, _ body: @escaping () -> Void) {
        number += 1
        // A tenth of a microsecond off any round instant, so that nothing coincides with a word.
        let at =
            now + .milliseconds(Int64(milliseconds)) + TimeSpan(nanoseconds: 100_300 + Int64(dice.below(90)) * 1000)
        queue.append((at, number, body))
    }

    func run(for span: TimeSpan) {
        let end = now + span
        while accounts.complaints.isEmpty {
            let next = queue.min { ($0.at, $0.number) < ($1.at, $1.number) }
            let due = [next?.at, machine.deadline].compactMap { $0 }.min() ?? end
            guard due <= end else { break }
            now = max(now, due)
            if let next, next.at <= now {
                queue.removeAll { $0.number == next.number }
                next.body()
            } else {
                step(.tick)
                if let deadline = machine.deadline, deadline <= now { complain("spins in \(machine.phase)") }
            }
        }
        now = end
    }

    // MARK: The machine

    func step(_ input: LinkInput) {
        let effects = machine.step(input, at: stamp)
        if keepsTrace { trace.append("\(now.nanoseconds / 1_000_000) \(input) -> \(machine.phase) \(effects)") }
        for effect in effects {
            switch effect {
            case .raise(let kind, let at): accounts.raise(kind, at: stamp.wall, from: at.wall)
            case .log: break
            case .request(let request):
                accounts.ask(request, at: stamp.wall)
                serve(request)
            }
        }
        if !machine.isReady { accounts.renew() }
        for channel in channels where machine.arming[channel]?.stage == .proven { accounts.prove(channel) }
        let needsNothing = machine.phase == .away || machine.phase == .ready
        if machine.deadline == nil, !needsNothing { complain("waits for ever in \(machine.phase)") }
    }

    private func complain(_ text: String) { accounts.complain(text, stamp.wall) }

    func tell(_ change: (inout LinkFacts) -> Void) {
        change(&facts)
        step(.facts(facts))
    }

    func close() {
        if !machine.isReady { complain("is not ready at last, but \(machine.phase): \(facts)") }
        accounts.close()
    }

    // MARK: The peripheral

    private func speak(_ channel: CharacteristicName, every span: TimeSpan, after milliseconds: Int64) {
        number += 1
        let at =
            Instant(nanoseconds: (now.nanoseconds / 1_000_000_000 + 1) * 1_000_000_000) + .milliseconds(milliseconds)
        queue.append(
            (
                at, number,
                { [unowned self] in
                    let isHeard = isLinkUp && facts.isUp && isConfigured.contains(channel) && clients.contains(channel)
                    let wasPassedOn = isHeard && machine.session == .open
                    let isDeaf = machine.isReady && machine.arming[channel].map { $0.stage != .proven } ?? false
                    if isDeaf, !accounts.reportedUnsubscribed.contains(channel) {
                        complain("nobody was told that \(channel) is deaf")
                    }
                    // Of what is refused, and was never heard, handlers were told instead.
                    let isOwed = !isDeaf || machine.voice.everHeard.contains(channel)
                    let bytes = accounts.say(
                        on: channel, at: stamp.wall, wasPassedOn: wasPassedOn, isOwed: isOwed || wasPassedOn)
                    if isHeard { step(.value(channel, bytes)) }
                    speak(channel, every: span, after: milliseconds)
                }
            ))
    }

    // MARK: The link

    func linkUp(isUnseen: Bool = false) {
        guard !isLinkUp, isInRange, facts.isReachable, !facts.isConnected || isUnseen, !isBlocked else { return }
        isLinkUp = true
        isLinkOld = false
        link += 1
        if dice.below(3) >= keepsConfiguration { isConfigured = [] }
        tell {
            $0.isConnected = true
            $0.connection += 1
            $0.isLeftOver = hasAir ? false : nil
        }
        if !isCalm, dice.isOne(in: 15) { return }
        let offersLate = !isCalm && dice.isOne(in: 5)
        onThisLink(after: dice.isOne(in: 10) ? dice.below(20_000) : dice.below(900)) { [unowned self] in
            if !offersLate { offer() }
            tell { $0.areServicesResolved = true }
            if offersLate { onThisLink(after: dice.below(1500)) { [unowned self] in offer() } }
        }
    }

    func onThisLink(after milliseconds: Int, _ body: @escaping () -> Void) {
        let (link, life) = (link, life)
        after(milliseconds) { [unowned self] in
            if self.link == link, self.life == life, isLinkUp, facts.isUp { body() }
        }
    }

    func offer() {
        guard facts.channels.isEmpty else { return }
        tell { facts in
            for channel in channels {
                facts.channels[channel] = .init(
                    path: "/\(pathNumber)/\(channel)", hasConfiguration: true, canRead: canBeRead)
            }
        }
    }

    /// The link ends, and bluetoothd tells so after a while; or tells only that the services went, when it is back.
    func linkDown(isUnseen: Bool = false) {
        guard isLinkUp else { return }
        isLinkUp = false
        link += 1
        let (link, life) = (link, life)
        after(dice.isOne(in: 3) ? dice.below(3000) : 0) { [unowned self] in
            guard self.link == link, self.life == life, facts.isReachable else { return }
            let isUnseen = isUnseen && isInRange && !isBlocked
            tell {
                $0.areServicesResolved = false
                $0.isConnected = isUnseen
            }
            if isUnseen { linkUp(isUnseen: true) } else { bringBack() }
        }
    }

    func bringBack() {
        guard isTrusted else { return }
        after(dice.isOne(in: 4) ? dice.below(8000) : dice.below(300)) { [unowned self] in linkUp() }
    }

    // MARK: bluetoothd

    func die() {
        life += 1
        clients = []
        isLinkOld = isLinkUp
        let lost = accounts.inFlight
        for request in lost { accounts.answer(request) }
        facts = LinkFacts()
        step(.facts(facts))
        for request in lost { step(.answered(request, .other("NoReply"))) }
        after(200 + dice.below(3000)) { [unowned self] in comeBack() }
    }

    private func comeBack() {
        facts.absence = nil
        isBlocked = isBlocked && dice.isOne(in: 2)
        facts.isBlocked = isBlocked
        if dice.isOne(in: 2) { noteOldLink(&facts) }
        step(.facts(facts))
        after(5) { [unowned self] in
            if isLinkUp { tell { noteOldLink(&$0) } } else { bringBack() }
        }
    }

    private func noteOldLink(_ facts: inout LinkFacts) {
        facts.isConnected = isLinkUp
        facts.isLeftOver = isLinkUp && hasAir ? isLinkOld : nil
    }

    private func block() {
        isBlocked = true
        tell { $0.isBlocked = true }
        linkDown()
        if isCalm { after(2000) { [unowned self] in unblock() } }
    }

    /// It was paired again, or unblocked by hand.
    func unblock() {
        guard isBlocked else { return }
        isBlocked = false
        if facts.isReachable { tell { $0.isBlocked = false } }
        bringBack()
    }

    private func serve(_ request: LinkRequest) {
        let life = life
        let (isLost, delay) = (!isCalm && dice.isOne(in: 25), dice.isOne(in: 6) ? dice.below(2500) : dice.below(60))
        after(isLost ? (request == .connect ? 25_000 : 15_000) : delay) { [unowned self] in
            // What died with bluetoothd was answered by the bus.
            guard self.life == life else { return }
            accounts.answer(request)
            step(isLost ? .answered(request, .timedOut) : answer(request))
        }
    }

    private func answer(_ request: LinkRequest) -> LinkInput {
        let fault: LinkFailure? =
            isCalm || !dice.isOne(in: 8)
            ? nil : [.inProgress, .notConnected, .other("Failed"), .unauthenticated, .timedOut, .noRoom][dice.below(6)]
        switch request {
        case .cut, .letGo:
            guard hasKernel, fault == nil else { return .answered(request, fault ?? .other("CAP_NET_ADMIN")) }
            linkDown()
            return .answered(request, nil)
        case .unblock: return .answered(request, hasKernel ? fault : .other("CAP_NET_ADMIN"))
        case .block:
            guard facts.isReachable, fault == nil else { return .answered(request, fault ?? .unknownObject) }
            block()
            return .answered(request, nil)
        case .connect:
            if isLinkUp || !isInRange || fault != nil { return .answered(request, fault ?? .other("abort")) }
            linkUp()
            return .answered(request, nil)
        case .disconnect:
            linkDown()
            return .answered(request, nil)
        case .ask: return .answered(request, isLinkUp && facts.isUp ? fault : .notConnected)
        case .startNotify(let uuid), .stopNotify(let uuid), .readConfiguration(let uuid), .read(let uuid):
            guard isLinkUp, facts.isUp, facts.areServicesResolved else { return .answered(request, .notConnected) }
            guard fault == nil else { return .answered(request, fault) }
            return answer(request, of: uuid)
        }
    }

    private func answer(_ request: LinkRequest, of uuid: CharacteristicName) -> LinkInput {
        switch request {
        case .connect, .disconnect, .cut, .letGo, .block, .unblock, .ask: break
        // Written only if bluetoothd believes it must.
        case .startNotify: if clients.insert(uuid).inserted { isConfigured.insert(uuid) }
        case .stopNotify:
            clients.remove(uuid)
            isConfigured.remove(uuid)
        case .readConfiguration:
            guard hasReadableConfiguration else { return .answered(request, .other("Read not permitted")) }
            return .configuration(uuid, isConfigured.contains(uuid) ? [1, 0] : [0, 0])
        case .read: return .answered(request, .other("Read not permitted"))
        }
        return .answered(request, nil)
    }
}
