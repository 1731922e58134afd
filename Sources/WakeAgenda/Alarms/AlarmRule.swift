// An alarm as a manifest declares it or a handler orders it: when it fires, and the data that it carries.
import WakeModel

public struct AlarmRule: Hashable, Sendable {
    public enum Schedule: Hashable, Sendable {
        /// - Parameter zone: a name below `/usr/share/zoneinfo`; nil for the system's.
        case daily(DailyTimes, zone: String?)
        /// Real time. Its first occurrence comes `phase` after the alarm is set; nil for a whole period.
        case every(TimeSpan, phase: TimeSpan?)
        case at(WallTime)
        /// Real time from the order on.
        case after(TimeSpan)

        var isRepeating: Bool {
            switch self {
            case .daily, .every: true
            case .at, .after: false
            }
        }
    }

    /// The treatment of an occurrence that could not be raised in time.
    public enum CatchUp: String, Hashable, Sendable, CaseIterable {
        /// The last of them is raised late, and reports how many were missed.
        case once
        /// The next one in time reports how many were missed; none of them is raised.
        case skip
    }

    public var id: String
    public var schedule: Schedule
    public var catchUp = CatchUp.once
    /// For how long it may wait for another reason to wake the handler.
    public var leeway = TimeSpan.zero
    /// Otherwise it goes along with a wake of another cause.
    public var wakes = true
    /// It ends the sleep of the machine.
    public var wakesMachine = false
    /// JSON that the event carries.
    public var data: [UInt8] = Array("{}".utf8)
    /// For people, where the handler is not attached.
    public var alert: String?

    public init(id: String, schedule: Schedule) { (self.id, self.schedule) = (id, schedule) }

    /// Declared and ordered ones of one handler together.
    public static let limit = 128
    public static let idLimit = 64
    public static let dataLimit = 4_096
    public static let alertLimit = 1_024
    public static let timesLimit = 96
    public static let shortestPeriod = TimeSpan.seconds(60)
    public static let longestSpan = TimeSpan.seconds(3_660 * 86_400)
    public static let longestLeeway = TimeSpan.seconds(86_400)

    /// The zone of an alarm without one of its own: the system's.
    public static let systemZone = "localtime"

    /// The zone that it has to know; nil where it goes by real time or by one instant.
    var zoneName: String? {
        switch schedule {
        case .daily(_, let zone): zone ?? Self.systemZone
        case .every, .at, .after: nil
        }
    }
}
