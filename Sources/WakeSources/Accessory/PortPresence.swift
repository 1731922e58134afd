// The presence of an accessory as handlers know it: reported only once it has stayed for a while. Absences that are too
// short are not reported.
import WakeModel

struct PortPresence: Hashable, Sendable {
    struct Held: Hashable, Sendable {
        var kind: DeviceEvent.Kind
        var at: Stamp
    }

    /// It is away, and that is not reported yet.
    struct Absence: Hashable, Sendable {
        var since: Stamp
        var reason: String
        var until: Instant
    }

    /// Handlers know it as connected.
    var isTold = false
    /// It is there, and has to stay until then.
    var settlesAt: Instant?
    /// When it came up, while it settles.
    var upSince: Stamp?
    var absence: Absence?
    /// Its events while it settles.
    var held: [Held] = []
    var heldBytes = 0
    /// Plugs and unplugs that were not reported.
    var folded: UInt32 = 0
    /// When its node was released for others.
    var letGoAt: Stamp?
    /// The possible loss before it came up; raised before that is.
    var heldGap: Gap?
    var heardSince: WallTime?
    /// When it was followed last.
    var heardUntil: WallTime?

    /// When the log last reported a visit that was too short for an event.
    var visitToldAt: Instant?
    /// How many there were since.
    var untoldVisits = 0

    var deadline: Instant? { settlesAt ?? absence?.until }
    /// Handlers believe that it is there, or will learn so.
    var isUp: Bool { settlesAt != nil || (isTold && absence == nil) }
}

extension PortMachine {
    /// It is there, and open where it is to be opened.
    mutating func comeUp(_ step: inout PortStep) {
        recordGap(&step)
        // Reported, and not followed before a handler is awake.
        if plan.node != .none, phase != .open { deafSince = deafSince ?? step.stamp.wall }
        if presence.isTold, presence.absence == nil { return returnFromLetGo(&step) }
        presence.upSince = step.stamp
        let settle = isFlapping ? max(plan.settle, patience.flapSettle) : plan.settle
        presence.settlesAt = step.now + settle
    }

    /// Data may be lost between two times of listening.
    private mutating func recordGap(_ step: inout PortStep) {
        guard phase == .open else { return }
        presence.heardSince = step.stamp.wall
        guard let from = deafSince else { return }
        let to = step.stamp.wall
        presence.heldGap = Gap(cause: .link, count: nil, first: nil, last: nil, from: min(from, to), to: to)
        deafSince = nil
    }

    private mutating func returnFromLetGo(_ step: inout PortStep) {
        if let letGoAt = presence.letGoAt {
            presence.letGoAt = nil
            step.raise(.disconnected(reason: "detached", folded: 0), at: letGoAt)
            raiseGap(&step)
            step.raise(.connected(folded: 0))
        }
        raiseGap(&step)
    }

    /// Reports the changes that are due by time alone.
    mutating func settle(_ step: inout PortStep) {
        if let due = presence.settlesAt, step.now >= due { announce(&step) }
        if presence.settlesAt == nil, let absence = presence.absence, step.now >= absence.until { reportGone(&step) }
    }

    mutating func raise(_ kind: DeviceEvent.Kind, _ step: inout PortStep) {
        guard presence.settlesAt != nil else { return step.raise(kind) }
        presence.held.append(.init(kind: kind, at: step.stamp))
        if case .data(_, let bytes) = kind { presence.heldBytes += bytes.count }
        if presence.held.count >= patience.heldEvents || presence.heldBytes >= patience.heldBytes { announce(&step) }
    }

    /// It has stayed, or has sent an event that must be raised.
    private mutating func announce(_ step: inout PortStep) {
        let at = presence.upSince ?? step.stamp
        if presence.absence != nil {
            // Its unplug is part of the count that its plug folds.
            presence.folded += 1
            presence.absence = nil
        }
        raiseGap(&step)
        step.raise(.connected(folded: presence.folded), at: at)
        for held in presence.held { step.raise(held.kind, at: held.at) }
        presence.held = []
        presence.heldBytes = 0
        presence.folded = 0
        presence.settlesAt = nil
        presence.isTold = true
    }

    private mutating func raiseGap(_ step: inout PortStep) {
        if let gap = presence.heldGap { step.raise(.gap(gap)) }
        presence.heldGap = nil
    }

    /// Raises its held events before anything that takes it away.
    mutating func announceHeld(_ step: inout PortStep) {
        if presence.settlesAt != nil, !presence.held.isEmpty { announce(&step) }
    }

    /// It went, or its node failed. Back within the grace, it was never away.
    mutating func goDown(_ reason: String, _ step: inout PortStep) {
        announceHeld(&step)
        if presence.settlesAt != nil { return forgetVisit(&step) }
        guard presence.isTold else { return }
        if presence.absence != nil {
            presence.absence?.reason = reason
            return
        }
        let grace = isFlapping ? max(plan.replugGrace, patience.flapSettle) : plan.replugGrace
        let since = presence.letGoAt ?? step.stamp
        presence.letGoAt = nil
        presence.absence = .init(since: since, reason: reason, until: step.now + grace)
        // Back within the grace, handlers believe that it was followed all the time.
        if phase == .away, plan.node != .none { deafSince = deafSince ?? surelyHeard(at: step.stamp) }
    }

    /// It came and went before any report.
    private mutating func forgetVisit(_ step: inout PortStep) {
        if let up = presence.upSince { reportVisit(of: step.now - up.moment.boottime, &step) }
        presence.settlesAt = nil
        presence.upSince = nil
        presence.folded += 2
        deafSince = presence.heldGap?.from ?? deafSince
        presence.heldGap = nil
    }

    /// A device that comes and goes without end must not fill the log.
    private mutating func reportVisit(of stay: TimeSpan, _ step: inout PortStep) {
        if let told = presence.visitToldAt, step.now - told < patience.visitWindow {
            presence.untoldVisits += 1
            return
        }
        let others =
            presence.untoldVisits > 0 ? " (and \(presence.untoldVisits) times more since the last report)" : ""
        step.log(
            "it was there for \(stay.spoken) only\(others), which was not reported; where another program took it, "
                + "such as brltty, 'wakebridge doctor' names it")
        presence.visitToldAt = step.now
        presence.untoldVisits = 0
    }

    mutating func reportGone(_ step: inout PortStep) {
        guard let absence = presence.absence else { return }
        // A loss by a hang-up is reported as one gap, when it is followed again.
        if !isDeafByLoss { reportDeafness(until: absence.since.wall, &step) }
        step.raise(.disconnected(reason: absence.reason, folded: presence.folded), at: absence.since)
        presence.folded = 0
        presence.absence = nil
        presence.isTold = false
        // An unplugged device sends nothing.
        if phase == .away { deafSince = nil }
    }

    /// It was reported, and its data until then was not received.
    private mutating func reportDeafness(until end: WallTime, _ step: inout PortStep) {
        guard let from = deafSince, from < end else { return }
        step.raise(.gap(Gap(cause: .link, count: nil, first: nil, last: nil, from: from, to: end)))
        deafSince = end
    }

    /// By the user's will: no grace.
    mutating func endPresence(_ reason: String, _ step: inout PortStep) {
        announceHeld(&step)
        if presence.settlesAt != nil {
            presence.settlesAt = nil
            deafSince = presence.heldGap?.from ?? deafSince
            presence.heldGap = nil
        }
        guard presence.isTold else { return }
        if presence.absence != nil { return reportGone(&step) }
        if presence.letGoAt == nil { reportDeafness(until: step.stamp.wall, &step) }
        step.raise(.disconnected(reason: reason, folded: 0), at: presence.letGoAt ?? step.stamp)
        presence.letGoAt = nil
        presence.isTold = false
    }
}
