// What the machine's sleep, memory, heat and power do to the handlers together, and who of them makes way first.
import WakeModel

extension Dispatcher {
    mutating func noteSleep(_ sleep: SystemSleep, _ step: inout Step) {
        switch sleep {
        case .preparing(let span):
            let end = step.now + span
            machine.sleepsAt = min(machine.sleepsAt ?? end, end)
            step.machine = machine
            for slot in handlers.indices { change(slot, &step) { _, _ in } }
        case .over:
            machine.sleepsAt = nil
            step.machine = machine
            for slot in handlers.indices { change(slot, &step) { $0.noteEndOfSleep($1) } }
        }
    }

    mutating func noteHeat(_ isHot: Bool, _ step: inout Step) {
        guard machine.isHot != isHot else { return }
        machine.isHot = isHot
        step.machine = machine
        for slot in handlers.indices { change(slot, &step) { _, _ in } }
    }

    mutating func notePower(_ isOnBattery: Bool, _ step: inout Step) {
        guard machine.isOnBattery != isOnBattery else { return }
        machine.isOnBattery = isOnBattery
        step.machine = machine
        for slot in handlers.indices { change(slot, &step) { _, _ in } }
    }

    mutating func feelMemory(_ level: MemoryLevel, _ step: inout Step) {
        guard level != .normal else { return }
        for slot in handlers.indices { change(slot, &step) { $0.warnOfMemory(level, &$1) } }
        guard level == .critical else { return }
        if let victim = leastRecentlyUsedSuspended {
            change(victim, &step) { $0.reclaim(&$1) }
        } else if let slot = longestAwake(at: step.now), !handlers.contains(where: \.isMakingWayForMemory) {
            change(slot, &step) { $0.pressForMemory($1) }
        }
    }

    /// Those that have nothing unfinished first: taking one that does would only bring it back.
    private var leastRecentlyUsedSuspended: Int? {
        handlers.indices
            .filter { handlers[$0].phase == .suspended }
            .min {
                (handlers[$0].hasUnfinished ? 1 : 0, handlers[$0].suspendedSince ?? .zero)
                    < (handlers[$1].hasUnfinished ? 1 : 0, handlers[$1].suspendedSince ?? .zero)
            }
    }

    private func longestAwake(at now: Instant) -> Int? {
        handlers.indices
            .filter { handlers[$0].canMakeWay(at: now) }
            .min { (handlers[$0].budget.awakeSince ?? now) < (handlers[$1].budget.awakeSince ?? now) }
    }
}
