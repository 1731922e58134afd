// The peripherals of all handlers: served while their handlers may run, each central's request an event of its own.
import WakeModel

struct PeripheralBook: AgendaBook {
    private(set) var machines: [HandlerID: PeripheralMachine] = [:]
    private var histories: [HandlerID: ChangeHistory] = [:]
    /// Since when each is as far as it is.
    private var since: [HandlerID: WallTime] = [:]
    /// The memory of an earlier life, until the manifest is read.
    private var memories: [HandlerID: [AgendaRow]] = [:]
    private var touched: Set<HandlerID> = []

    var nextBoottime: Instant? { machines.values.compactMap(\.deadline).min() }

    func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        machines[handler]?.open[sequence].map { Self.key(handler, String($0)) }
    }

    static func key(_ handler: HandlerID, _ id: String = "") -> AgendaKey { AgendaKey(handler, .peripheral, id) }

    // MARK: Manifests

    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        guard (try? JSONValue(parsing: row.value)) != nil else { return false }
        memories[row.key.handler, default: []].append(row)
        return true
    }

    mutating func configure(_ handler: HandlerID, _ plan: AgendaPlan, _ step: inout AgendaStep) {
        guard let rule = plan.peripheral else { return remove(handler, &step) }
        touched.insert(handler)
        if machines[handler] != nil {
            guard machines[handler]?.rule != rule else { return }
            machines[handler]?.adopt(rule, at: step.boottime)
            return flush(handler, &step)
        }
        var machine = PeripheralMachine(rule, firstNumber: step.wall.microseconds)
        for row in memories.removeValue(forKey: handler) ?? [] where !machine.recall(row, step) {
            step.emit(.erase(row.key))
        }
        machines[handler] = machine
        since[handler] = step.wall
    }

    mutating func remove(_ handler: HandlerID, _ step: inout AgendaStep) {
        for row in memories.removeValue(forKey: handler) ?? [] { step.emit(.erase(row.key)) }
        guard machines[handler] != nil else { return }
        machines[handler]?.withdraw()
        flush(handler, &step)
        let values = machines.removeValue(forKey: handler)?.served.keys.map(\.description) ?? []
        (histories[handler], since[handler]) = (nil, nil)
        for id in values.sorted() + [""] { step.emit(.erase(Self.key(handler, id))) }
    }

    // MARK: Reports and orders

    mutating func hear(_ handler: HandlerID, _ report: PeripheralReport, _ step: inout AgendaStep) {
        let (now, wall) = (step.boottime, step.wall)
        change(handler, &step) { $0.hear(report, at: now, wall) }
    }

    mutating func serve(_ order: ServeOrder, of handler: HandlerID, _ step: inout AgendaStep) throws(ProtocolFault)
        -> String
    {
        guard let machine = machines[handler] else {
            throw .notInManifest("serve", key: "peripheral", example: PeripheralRule.manifestExample)
        }
        try order.check(machine)
        var word = "served"
        change(handler, &step) { word = order.perform(on: &$0) }
        return word
    }

    private mutating func change(
        _ handler: HandlerID, _ step: inout AgendaStep, _ body: (inout PeripheralMachine) -> Void
    ) {
        guard var machine = machines[handler] else { return }
        let before = machine.standing
        body(&machine)
        machines[handler] = machine
        if machine.standing != before {
            since[handler] = step.wall
            histories[handler, default: ChangeHistory()].add(machine.standing.sentence, step)
            step.decide(Self.key(handler), machine.standing.word)
        }
        flush(handler, &step)
    }

    // MARK: The passing of time

    mutating func advance(_ step: inout AgendaStep) {
        guard !machines.isEmpty else { return touched.removeAll() }
        let due = machines.filter { $0.value.deadline.map { $0 <= step.boottime } ?? false }.keys
        let concerned = touched.union(due).union(step.changes.handlers.filter { machines[$0] != nil })
        touched = []
        for handler in concerned.sorted() {
            let mayRun = step.obstacle(of: handler) == nil
            let isAttached = step.facts(of: handler).situation == .attached
            let (now, wall) = (step.boottime, step.wall)
            change(handler, &step) { machine in
                machine.settle(mayRun: mayRun, isAttached: isAttached)
                machine.advance(at: now, wall)
            }
        }
    }

    private mutating func flush(_ handler: HandlerID, _ step: inout AgendaStep) {
        for effect in machines[handler]?.removeEffects() ?? [] {
            switch effect {
            case .command(let command): step.emit(.act(Self.key(handler), command))
            case .raise(let number, let occasion, let isAuthenticated):
                let key = Self.key(handler, String(number))
                step.decide(key, "raise \(occasion.name)")
                step.emit(.report(key, occasion, isAuthenticated: isAuthenticated))
            case .recall(let sequence): step.emit(.recall(handler, sequence))
            case .lose(let count, let since):
                let gap = Gap(cause: .storm, count: count, first: nil, last: nil, from: since, to: step.wall)
                step.decide(Self.key(handler), "gap count=\(count)")
                step.emit(.lose(Self.key(handler), gap))
            case .storeSubscribers: if let row = machines[handler]?.row(of: handler, step) { step.emit(.store(row)) }
            case .storeValue(let uuid):
                if let row = machines[handler]?.row(of: uuid, handler, step) { step.emit(.store(row)) }
            }
        }
    }

    // MARK: Reports of the core on raised events

    mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        guard let number = Int64(key.id) else { return }
        machines[key.handler]?.raised(number, as: sequence)
        flush(key.handler, &step)
    }

    mutating func conclude(
        _ key: AgendaKey, _ conclusion: Conclusion, awake: TimeSpan, cpu: TimeSpan, _ step: inout AgendaStep
    ) {
        guard conclusion.isFinal, let number = Int64(key.id) else { return }
        machines[key.handler]?.refused(number)
        machines[key.handler]?.conclude(number)
        flush(key.handler, &step)
    }

    // MARK: What people see

    func pending(of handler: HandlerID, _ step: AgendaStep) -> [PendingEntry] {
        guard let machine = machines[handler] else { return [] }
        let entry = PendingEntry(
            key: Self.key(handler), state: .waiting, history: histories[handler]?.changes ?? [])
        let word = step.obstacle(of: handler) ?? machine.standing.wait.word
        var listed = entry
        listed.waitsFor = [PendingEntry.Wait(word: word, since: since[handler] ?? step.wall)]
        return [listed]
    }
}

extension PeripheralMachine {
    /// How far it is, for people.
    enum Standing: Hashable, Sendable {
        case withdrawn
        case hindered(PeripheralHindrance)
        /// It was asked for, and there is no answer yet.
        case asked
        /// Registered, and not on the air though it should be.
        case silent(PeripheralHindrance)
        case served

        var wait: WaitReason {
            switch self {
            case .withdrawn: .manifest
            case .hindered(.bluetoothd), .asked, .hindered(.refused), .silent(.refused), .silent(.bluetoothd):
                .bluetoothd
            case .hindered(.adapter), .silent(.adapter): .adapter
            case .hindered(.slot), .silent(.slot): .advertisingSlot
            case .served: .central
            }
        }

        var word: String {
            switch self {
            case .withdrawn: "withdraw"
            case .asked: "offer"
            case .hindered: "hindered \(wait.word)"
            case .silent: "silent \(wait.word)"
            case .served: "served"
            }
        }

        var sentence: String {
            switch self {
            case .withdrawn: "it was withdrawn"
            case .asked: "it was offered to bluetoothd"
            case .hindered(.refused(let why)): "bluetoothd refused it: \(why)"
            case .silent(.refused(let why)): "bluetoothd refused its advertisement: \(why)"
            case .hindered(.bluetoothd), .silent(.bluetoothd): "bluetoothd is not there"
            case .hindered(.adapter), .silent(.adapter): "no adapter for it is on"
            case .hindered(.slot), .silent(.slot): "its adapter has no free advertising slot"
            case .served: "centrals can use it"
            }
        }
    }

    var standing: Standing {
        switch link {
        case .withdrawn: .withdrawn
        case .offered(let hindrance?): .hindered(hindrance)
        case .offered(nil): .asked
        case .registered: advertisingHindrance.map { .silent($0) } ?? .served
        }
    }
}
