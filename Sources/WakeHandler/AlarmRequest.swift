// A handler's request for an alarm: when it fires and what it carries, as in iOS's local notifications.
internal import WakeModel

/// A request for an alarm: as `UNNotificationRequest`. ``AlarmCenter/add(_:)`` takes it.
public struct AlarmRequest: Hashable, Sendable {
    /// When it fires.
    public enum Trigger: Hashable, Sendable {
        /// Once, after so much real time: as `UNTimeIntervalNotificationTrigger`.
        case after(Duration)
        /// Once, at a time of the wall clock.
        case at(Timestamp)
        /// At these times of the wall clock: as `UNCalendarNotificationTrigger`.
        ///
        /// `on` names the days, none for every day. `zone` is a name such as `Europe/Berlin`, nil for the machine's zone.
        case daily([TimeOfDay], on: [Weekday] = [], zone: String? = nil)
        /// Each time that so much real time has passed, 60 s at least.
        case every(Duration)
    }

    /// The treatment of times at which it could not fire, since the machine slept or was off.
    public enum CatchUp: Hashable, Sendable {
        /// It fires late, once, with the number of missed times.
        case once
        /// It does not fire for them; the next one has the number of missed times.
        case skip
    }

    /// 1 to 64 of a-z, 0-9, `-`, `_` and `.`. An alarm of the same identifier is replaced.
    public var identifier: String
    /// When it fires.
    public var trigger: Trigger
    /// Comes back in ``FiredAlarm/data``: up to 4 KiB.
    public var data: DecodedValue?
    /// A text for people: the configured hook shows it while the handler is not attached.
    public var alert: String?
    /// The treatment of missed times.
    public var catchUp = CatchUp.once
    /// For how long it may wait for something else to wake the handler; nil for not at all.
    public var leeway: Duration?

    /// - Parameters:
    ///   - identifier: 1 to 64 of a-z, 0-9, `-`, `_` and `.`.
    ///   - trigger: when it fires.
    ///   - data: what comes back when it fires, such as `["dose": 2]`.
    ///   - alert: a line for people.
    public init(identifier: String, trigger: Trigger, data: DecodedValue? = nil, alert: String? = nil) {
        (self.identifier, self.trigger, self.data, self.alert) = (identifier, trigger, data, alert)
    }
}

/// A time of the day, to the second.
public struct TimeOfDay: Hashable, Sendable {
    /// 0 to 23.
    public var hour: Int
    /// 0 to 59.
    public var minute: Int
    /// 0 to 59.
    public var second: Int

    /// A time such as `TimeOfDay(7, 30)`. One that no day has is refused by the daemon.
    public init(_ hour: Int, _ minute: Int, _ second: Int = 0) {
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// `07:30`, or `07:30:15`.
    var text: String {
        let parts = second == 0 ? [hour, minute] : [hour, minute, second]
        return parts.map { (0...9).contains($0) ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}

/// A day of the week.
public enum Weekday: String, Hashable, Sendable, CaseIterable {
    case monday = "mon"
    case tuesday = "tue"
    case wednesday = "wed"
    case thursday = "thu"
    case friday = "fri"
    case saturday = "sat"
    case sunday = "sun"
}

extension AlarmRequest {
    /// As descriptor 3 has it.
    var order: HandlerOrder {
        var members = JSONMembers()
        members.add("id", .string(identifier))
        trigger.add(to: &members)
        switch catchUp {
        case .once: break
        case .skip: members.add("catch_up", .string("skip"))
        }
        members.add("leeway_s", leeway.map(JSONValue.seconds))
        members.add("data", data?.json)
        members.add("alert", alert.map(JSONValue.string))
        return HandlerOrder(.alarm, members.object)
    }
}

extension AlarmRequest.Trigger {
    fileprivate func add(to members: inout JSONMembers) {
        switch self {
        case .after(let span): members.add("in_s", .seconds(span))
        case .at(let time): members.add("at", .string(time.description))
        case .every(let period): members.add("every_s", .seconds(period))
        case .daily(let times, let days, let zone):
            members.add("daily", .array(times.map { .string($0.text) }))
            if !days.isEmpty { members.add("days", .array(days.map { .string($0.rawValue) })) }
            members.add("zone", zone.map(JSONValue.string))
        }
    }
}
