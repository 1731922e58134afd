// Carries instants of CLOCK_BOOTTIME over a restart and a reboot: by the wall clock where both ends can trust it.
import WakeModel

/// A row's record of the moment when it was stored.
struct BootAnchor: Hashable, Sendable {
    var bootID: String
    var boottime: Instant
    /// By a synchronized clock; nil where there was none.
    var wall: WallTime?
    /// ``wall`` comes of an earlier boot, and the instants were only assumed: the next synchronized clock mends them.
    var isAssumed: Bool

    /// - Parameter zero: as ``BootShift/zero`` of the entry.
    init(_ step: AgendaStep, zero: WallTime?) {
        (bootID, boottime) = (step.bootID, step.boottime)
        if step.stamp.isClockSynchronized, zero == nil {
            (wall, isAssumed) = (step.wall, false)
        } else {
            wall = zero.map { $0 + (step.boottime - .zero) }
            isAssumed = wall != nil
        }
    }

    /// How the row's instants become instants of this boot.
    func shift(to step: AgendaStep) -> BootShift {
        if bootID == step.bootID { return BootShift(by: .zero, own: .zero, zero: isAssumed ? wall.map(before) : nil) }
        if let seen = step.seen, seen.bootID == bootID, seen.boottime > boottime {
            return later(seen.boottime).shift(to: step)
        }
        let rest = TimeSpan.zero - (boottime - .zero)
        guard let wall, step.stamp.isClockSynchronized else { return BootShift(by: rest, own: rest, zero: wall) }
        let elapsed = max(.zero, step.wall.elapsed(since: wall))
        let trusted = step.boottime - boottime - elapsed
        return BootShift(by: trusted, own: isAssumed ? rest : trusted, zero: nil)
    }

    /// As if the row had been stored at this instant of its boot.
    private func later(_ instant: Instant) -> BootAnchor {
        var anchor = self
        anchor.wall = wall.map { $0 + (instant - boottime) }
        anchor.boottime = instant
        return anchor
    }

    private func before(_ wall: WallTime) -> WallTime { wall - (boottime - .zero) }
}

package struct BootShift: Hashable, Sendable {
    var by: TimeSpan
    /// The same for instants that were set in the row's own boot, without a synchronized clock.
    var own: TimeSpan
    /// The assumed wall time of this boot's zero, if the boot followed at once; nil where nothing was assumed.
    var zero: WallTime?

    /// How far instants that assumed `zero` are from where a synchronized clock puts them.
    static func mending(_ zero: WallTime, _ step: AgendaStep) -> TimeSpan {
        let trueZero = step.wall - (step.boottime - .zero)
        return min(.zero, zero.elapsed(since: trueZero))
    }
}

extension BootAnchor {
    func write(into writer: inout JSONWriter) {
        writer.field("boot", bootID)
        writer.field("at_ns", boottime.nanoseconds)
        if let wall { writer.field("wall_us", wall.microseconds) }
        if isAssumed { writer.field("assumed", true) }
    }

    init?(_ row: JSONValue) {
        guard let bootID = row["boot"]?.string, let boottime = row.instant("at_ns") else { return nil }
        (self.bootID, self.boottime) = (bootID, boottime)
        wall = row.bounded("wall_us").map { WallTime(microseconds: $0) }
        isAssumed = row["assumed"]?.boolean ?? false
    }
}

extension WallTime {
    func elapsed(since earlier: WallTime) -> TimeSpan {
        .microseconds(microseconds.subtractingReportingOverflow(earlier.microseconds).partialValue)
    }
}

extension JSONValue {
    /// A whole number that is far enough from the ends of its range to be reckoned with.
    var bounded: Int64? { integer.flatMap { $0.magnitude < 1 << 61 ? $0 : nil } }
    func bounded(_ name: String) -> Int64? { self[name]?.bounded }
    func instant(_ name: String) -> Instant? { bounded(name).map { Instant(nanoseconds: $0) } }
    func span(_ name: String) -> TimeSpan? { bounded(name).map { TimeSpan(nanoseconds: $0) } }
    func count(_ name: String) -> Int64? { bounded(name).flatMap { $0 < 0 ? nil : $0 } }
    func flag(_ name: String) -> Bool { self[name]?.boolean ?? false }
}

extension JSONWriter {
    /// Writes an object, without a newline.
    package static func whole(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(write)
        return writer.bytes
    }
}

/// By how much the wall clock is before CLOCK_BOOTTIME, when rows were stored last.
struct WallOffset: Sendable {
    private var known: TimeSpan?

    /// Rows that were stored before would be carried to a wrong instant by a reboot.
    mutating func hasMoved(_ step: AgendaStep) -> Bool {
        guard step.stamp.isClockSynchronized else { return false }
        let sinceBoot: TimeSpan = step.boottime - Instant.zero
        let offset: TimeSpan = .microseconds(step.wall.microseconds) - sinceBoot
        let drift: TimeSpan? = known.map { max($0, offset) - min($0, offset) }
        guard let drift else {
            known = offset
            return step.changes.clock
        }
        guard step.changes.clock, drift > .seconds(1) else { return false }
        known = offset
        return true
    }
}
