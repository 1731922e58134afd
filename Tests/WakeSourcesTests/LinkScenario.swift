// A stage for stories of one link: virtual time, a bluetoothd that answers as it is told to, and what was raised.
import Testing
import WakeModel

@testable import WakeSources

let heart = CharacteristicName(BluetoothUUID(short: 0x2a37))
let battery = CharacteristicName(BluetoothUUID(short: 0x2a19))

final class LinkScenario {
    private(set) var machine: LinkMachine
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    private var slept = TimeSpan.zero
    var facts = LinkFacts()
    /// What is answered at once to each request; what is not here stays unanswered.
    var answers: [LinkRequest: LinkFailure?] = [:]
    /// What the peripheral's configurations read; nil where they cannot be read.
    var configuration: [UInt8]? = [1, 0]
    /// What becomes of a question's write; nil where it is taken.
    var refusalToAsk: LinkFailure?
    private(set) var requests: [LinkRequest] = []
    private(set) var raised: [DeviceEvent.Kind] = []
    /// Since the story began.
    private(set) var all: [DeviceEvent.Kind] = []
    /// Of what was raised since the last look, when it came.
    private var stamps: [Stamp] = []
    private(set) var told: [String] = []

    static let origin: Int64 = 1_700_000_000_000_000

    init(
        notify: [CharacteristicName] = [heart], read: [CharacteristicName] = [], optional: Set<CharacteristicName> = [],
        framing: Framing? = nil, ask: AskPlan = AskPlan(), session: LinkSession = .open, heardUntil: TimeSpan? = nil
    ) {
        var plan = LinkPlan(notify: notify, read: read, optional: optional, ask: ask)
        plan.framings[heart] = framing.map { LinkPlan.ChannelFraming($0, limit: 16) }
        machine = LinkMachine(
            plan, session: session,
            heardUntil: heardUntil.map { WallTime(microseconds: Self.origin) + $0 }, patience: LinkTimeouts())
        facts.absence = .bluetoothdGone
        for uuid in notify {
            answers[.startNotify(uuid)] = .some(nil)
            answers[.stopNotify(uuid)] = .some(nil)
        }
    }

    /// Seconds since the story began, as `gap` says them.
    var elapsed: Double { (now + slept - Instant(nanoseconds: 1_000_000_000_000)).seconds }
    var stamp: Stamp {
        let wall = WallTime(microseconds: Self.origin) + (now + slept - Instant(nanoseconds: 1_000_000_000_000))
        return Stamp(moment: Moment(monotonic: now, boottime: now + slept), wall: wall)
    }

    // MARK: What happens

    func step(_ input: LinkInput) {
        for effect in machine.step(input, at: stamp) {
            switch effect {
            case .raise(let kind, let stamp):
                raised.append(kind)
                all.append(kind)
                stamps.append(stamp)
            case .log(let sentence): told.append(sentence)
            case .request(let request):
                requests.append(request)
                answer(request)
            }
        }
        // A machine whose time has come must move, or the loop would never rest.
        if let deadline = machine.deadline { #expect(deadline > now || input != .tick, "\(machine.phase)") }
    }

    private var queue: [LinkInput] = []
    private var isAnswering = false

    private func answer(_ request: LinkRequest) {
        if case .readConfiguration(let uuid) = request {
            if let answer = answers[request] {
                queue.append(.answered(request, answer))
            } else if let configuration {
                queue.append(.configuration(uuid, configuration))
            }
        } else if case .ask = request {
            queue.append(.answered(request, refusalToAsk))
        } else if let answer = answers[request] {
            queue.append(.answered(request, answer))
        }
        guard !isAnswering else { return }
        isAnswering = true
        while !queue.isEmpty { step(queue.removeFirst()) }
        isAnswering = false
    }

    func tell(_ change: (inout LinkFacts) -> Void) {
        change(&facts)
        step(.facts(facts))
    }

    /// Lets time pass; deadlines on the way are kept.
    func advance(_ span: TimeSpan) {
        let end = now + span
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            step(.tick)
        }
        now = end
    }

    /// The machine sleeps, and no timer with it.
    func sleep(_ span: TimeSpan) { slept = slept + span }

    // MARK: As bluetoothd tells it

    func appear() { tell { $0.absence = nil } }
    func offer(
        _ uuids: CharacteristicName..., from first: Int = 1, hasConfiguration: Bool = true, canRead: Bool = false
    ) {
        tell { facts in
            for (index, uuid) in uuids.enumerated() {
                facts.channels[uuid] = .init(
                    path: "/char\(first + index)", hasConfiguration: hasConfiguration, canRead: canRead)
            }
        }
    }
    func connect() { tell { $0.isConnected = true } }
    func resolve() { tell { $0.areServicesResolved = true } }
    func drop() {
        tell {
            $0.isConnected = false
            $0.areServicesResolved = false
        }
    }
    func lose(_ absence: LinkFacts.Absence = .bluetoothdGone) {
        facts = LinkFacts()
        tell { $0.absence = absence }
    }
    func say(_ bytes: UInt8..., on uuid: CharacteristicName = heart) { step(.value(uuid, bytes)) }

    /// Bonded, known and away, with its objects as bluetoothd keeps them.
    func settle() {
        appear()
        offer(heart)
    }

    /// Up to `ready`, as a first connect.
    func makeReady() {
        settle()
        connect()
        advance(.milliseconds(200))
        resolve()
        #expect(machine.isReady)
    }

    // MARK: Reading

    /// What was raised since the last look, in short.
    func news() -> [String] {
        defer { (raised, stamps) = ([], []) }
        return raised.map { kind in
            switch kind {
            case .connected: "connected"
            case .disconnected(let reason, _): "disconnected \(reason)"
            case .data(.fragment(let fragment), let bytes):
                "\(fragment.rawValue) \(bytes.map(String.init).joined(separator: ","))"
            case .data(_, let bytes): "data \(bytes.map(String.init).joined(separator: ","))"
            case .gap(let gap): "gap \(seconds(gap.from))-\(seconds(gap.to))"
            case .attention(let attention, _): "attention \(attention.rawValue)"
            case .occasion(let occasion): occasion.name
            }
        }
    }

    /// What was said since the last look, each with when it was told to have come.
    func times() -> [String] {
        defer { (raised, stamps) = ([], []) }
        return zip(raised, stamps).compactMap { kind, stamp in
            guard case .data(_, let bytes) = kind else { return nil }
            return "data \(bytes.map(String.init).joined(separator: ",")) at \(seconds(stamp.wall))"
        }
    }

    private func seconds(_ wall: WallTime) -> String {
        let tenths = (wall.microseconds - Self.origin) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The questions that were written since the last look, by their first byte.
    func questions() -> [UInt8] {
        asked().compactMap { if case .ask(let asked) = $0 { asked.question.bytes.first } else { nil } }
    }

    /// What was asked since the last look.
    func asked() -> [LinkRequest] {
        defer { requests = [] }
        return requests
    }
    func sentences() -> [String] {
        defer { told = [] }
        return told
    }
}
