// One accessory's node under a clock that stands until it is moved: what the machine wants opened, and what it told.
import WakeModel
import WakeSystem

@testable import WakeSources

struct PortBench {
    var machine: PortMachine
    private(set) var now = Stamp(
        moment: Moment(monotonic: Instant(nanoseconds: 1_000_000_000), boottime: Instant(nanoseconds: 1_000_000_000)),
        wall: WallTime(microseconds: 1_700_000_000_000_000))
    private(set) var told: [(kind: DeviceEvent.Kind, at: Stamp)] = []
    private(set) var sentences: [String] = []
    private(set) var opens: [String] = []
    /// The questions that were written, by their first byte.
    private(set) var questions: [UInt8] = []
    private(set) var closes = 0
    /// What opening the node brings; nil opens it.
    var refusal: PortRefusal?
    /// Its driver takes its time: the node is open when ``answer()`` says so.
    var isSlow = false
    private(set) var isOpening = false

    init(
        _ plan: AccessoryPlan = AccessoryPlan(node: .serial), session: LinkSession = .open,
        heardUntil: WallTime? = nil, patience: PortTimeouts = PortTimeouts()
    ) {
        machine = PortMachine(plan, session: session, heardUntil: heardUntil, patience: patience)
    }

    mutating func take(_ input: PortInput) {
        for effect in machine.step(input, at: now) {
            switch effect {
            case .open(let node):
                opens.append(node)
                isOpening = true
                if !isSlow { answer() }
            case .close:
                closes += 1
                isOpening = false
            case .raise(let kind, let stamp): told.append((kind, stamp))
            case .ask(let asked):
                questions.append(asked.question.bytes[0])
                take(.asked(asked.number, nil))
            case .log(let sentence): sentences.append(sentence)
            }
        }
    }

    mutating func answer() {
        guard isOpening else { return }
        isOpening = false
        take(refusal.map { .refused($0) } ?? .opened)
    }

    mutating func plug(_ node: String = "/dev/ttyACM0") { take(.attached(node: node)) }
    mutating func unplug() { take(.detached) }
    mutating func say(_ text: String) { take(.said(.data(.serial, Array(text.utf8)))) }

    /// Time goes on, and what falls due meanwhile happens at its instant.
    mutating func wait(_ span: TimeSpan) {
        let end = now.moment.boottime + span
        while let due = machine.deadline, due <= end {
            advance(by: max(due - now.moment.boottime, .zero))
            take(.tick)
            if machine.deadline == due { break }
        }
        advance(by: end - now.moment.boottime)
    }

    /// The whole system sleeps, and what fell due meanwhile happens when it wakes.
    mutating func sleep(_ span: TimeSpan) {
        now.moment.boottime = now.moment.boottime + span
        now.wall = now.wall + span
        if let due = machine.deadline, due <= now.moment.boottime { take(.tick) }
    }

    private mutating func advance(by span: TimeSpan) {
        now.moment = now.moment + span
        now.wall = now.wall + span
    }

    /// `+`, `-unplugged`, `gap`, `:text`, `!flapping`; with the flips folded where there are any.
    var story: [String] { told.map { Self.word($0.kind) } }

    static func word(_ kind: DeviceEvent.Kind) -> String {
        switch kind {
        case .connected(let folded): folded > 0 ? "+\(folded)" : "+"
        case .disconnected(let reason, let folded): "-\(reason)" + (folded > 0 ? " \(folded)" : "")
        case .data(_, let bytes): ":" + String(decoding: bytes, as: UTF8.self)
        case .gap: "gap"
        case .attention(let attention, _): "!\(attention.rawValue)"
        case .occasion(let occasion): occasion.name
        }
    }

    var gaps: [Gap] {
        told.compactMap {
            if case .gap(let gap) = $0.kind { return gap }
            return nil
        }
    }

    mutating func forget() {
        told = []
        sentences = []
        opens = []
        questions = []
        closes = 0
    }

    /// What was told last before that is that it went.
    func isDisconnected(at time: WallTime) -> Bool {
        var isConnected = false
        for event in told where event.at.wall <= time {
            switch event.kind {
            case .connected: isConnected = true
            case .disconnected: isConnected = false
            case .data, .gap, .attention, .occasion: break
            }
        }
        return !isConnected
    }
}
