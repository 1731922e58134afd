// Turns event lines, as the control API streams them, into a trace; pure: bytes go in and bytes come out.
import WakeModel

/// Returns the bytes to append to the trace: the header, then the lines of each event, then the end.
public struct TraceRecorder: Sendable {
    public enum Subject: Hashable, Sendable {
        case devices
        /// Also the actions of the machine and of handlers, as `GET /v1/day` streams them.
        case day
    }

    public struct Counts: Hashable, Sendable {
        public var values = 0
        public var connects = 0
        public var disconnects = 0
        /// Gaps and attentions, which the trace contains as comments.
        public var remarks = 0
        /// Operations of the machine and of handlers.
        public var deeds = 0
    }

    public private(set) var counts = Counts()
    /// Why the stream ended early; the trace contains no later line.
    public private(set) var cutShort: String?
    private let subject: Subject
    private var header: TraceHeader
    private var writer: TraceWriter
    /// The header is written; that of a day is known only when its stream begins.
    public private(set) var hasBegun = false
    /// Links that are up from the start are written.
    private var hasLinks = false
    private var isUp: [Bool]
    /// By their source in event lines.
    private var places: [String: Int] = [:]
    private var offset = TimeSpan.zero
    private var latest: WallTime?
    private var isSynchronized = true

    /// A larger difference means that the event's time is not the arrival of its line.
    private static let patience: Int64 = 5_000_000

    /// `isUp` has, for each device, whether its link is already up: then the trace begins with its connect.
    public init(_ devices: [TraceDevice], isUp: [Bool], start: WallTime, of subject: Subject = .devices) {
        self.subject = subject
        header = TraceHeader(start: start, devices: devices)
        writer = TraceWriter(header: header)
        self.isUp = devices.indices.map { $0 < isUp.count && isUp[$0] }
        for (place, device) in devices.enumerated() { places[device.uri] = place }
    }

    /// Empty for a day, whose stream begins with the facts for its header.
    public mutating func begin() -> [UInt8] {
        guard subject == .devices else { return [] }
        return start()
    }

    private mutating func start() -> [UInt8] {
        hasBegun = true
        var bytes: [UInt8] = []
        writer.writeHeader(to: &bytes)
        if subject == .devices { addLinks(to: &bytes) }
        return bytes
    }

    /// - Parameter now: a day lasts until then, whenever its last line came.
    public mutating func end(at now: WallTime) -> [UInt8] {
        var bytes = hasBegun ? [] : start()
        addLinks(to: &bytes)
        if subject == .day, latest != nil { bytes += recordLength(until: now) }
        writer.writeEnd(to: &bytes)
        return bytes
    }

    /// Returns nothing for a line that is neither an event of a recorded device nor a part of the day. `now` is when it came.
    public mutating func record(_ line: some Collection<UInt8>, at now: WallTime) -> [UInt8] {
        guard let event = try? JSONValue(parsing: line) else { return [] }
        if let gap = event["gap"] { return cut(gap) }
        guard let time = event["time"]?.string, let wall = WallTime(rfc3339: time) else { return [] }
        if let day = event["day"] { return greet(day, wall, now) }
        if let deed = event["deed"]?.string { return record(deed, wall, now) }
        guard let place = event["source"]?.string.flatMap({ places[$0] }), let type = event["type"]?.string else {
            return []
        }
        advance(to: wall, at: now)
        var bytes: [UInt8] = []
        addLinks(to: &bytes)
        let data = event["data"] ?? .null
        if let kind = Self.kind(type, data) {
            add(kind, of: place, to: &bytes)
        } else if let remark = Self.remark(type, data) {
            add("\(time) \(event["subject"]?.string ?? "") \(remark)", to: &bytes)
        }
        return bytes
    }

    private mutating func cut(_ gap: JSONValue) -> [UInt8] {
        let sentence = gap["message"]?.string ?? "the stream of events was cut"
        cutShort = sentence
        var bytes: [UInt8] = []
        writer.writeComment("lost: \(sentence)", to: &bytes)
        return bytes
    }

    private mutating func add(_ remark: String, to bytes: inout [UInt8]) {
        counts.remarks += 1
        writer.writeComment(remark, to: &bytes)
    }

    /// The first event has the time of its arrival; each later one follows by the difference of the events' times. A
    /// daemon that plays a trace uses that trace's times. If the clock was set, the time does not advance once.
    private mutating func advance(to wall: WallTime, at now: WallTime) {
        guard let latest else {
            latest = wall
            let isOfNow = (-Self.patience...Self.patience).contains(now.microseconds &- wall.microseconds)
            let since = (isOfNow ? wall : now).microseconds &- header.start.microseconds
            offset = TimeSpan.microseconds(max(0, since))
            return
        }
        let step = TimeSpan.microseconds(wall.microseconds &- latest.microseconds)
        self.latest = wall
        guard step > .zero, offset + step <= TraceLimit.span else { return }
        offset = offset + step
    }

    /// Manifests come before them: an event has no effect on a handler that is not there yet.
    private mutating func addLinks(to bytes: inout [UInt8]) {
        guard !hasLinks else { return }
        hasLinks = true
        for place in isUp.indices where isUp[place] { add(.connected(folded: 0), of: place, to: &bytes) }
    }

    private mutating func add(_ kind: DeviceEvent.Kind, of place: Int, to bytes: inout [UInt8]) {
        switch kind {
        case .connected:
            isUp[place] = true
            counts.connects += 1
        case .disconnected:
            isUp[place] = false
            counts.disconnects += 1
        case .data(.advertisement, _): counts.values += 1
        case .data:
            // The link came up between the question whether it is up and the first line of the stream.
            if !isUp[place] { add(.connected(folded: 0), of: place, to: &bytes) }
            counts.values += 1
        case .gap, .attention, .occasion: return
        }
        writer.write(TraceOperation(offset: offset, device: place, kind: kind), to: &bytes)
    }
}

// Operations of the machine and of handlers.
extension TraceRecorder {
    /// The stream begins, or begins again with another life of the daemon.
    private mutating func greet(_ day: JSONValue, _ wall: WallTime, _ now: WallTime) -> [UInt8] {
        guard !hasBegun else { return add(.machine(.restart), wall, now) }
        header.start = wall
        header.zone = day["zone"]?.string
        header.seed = day["seed"]?.string.flatMap { UInt64($0) } ?? 0
        writer = TraceWriter(header: header)
        latest = wall
        return start()
    }

    private mutating func record(_ deed: String, _ wall: WallTime, _ now: WallTime) -> [UInt8] {
        guard hasBegun, let subject = try? TraceOperation.Subject(deed: deed) else { return [] }
        guard deed.utf8.count <= TraceLimit.payloadBytes else {
            var bytes: [UInt8] = []
            add("\(deed.prefix(60))… is too long for a line of a trace", to: &bytes)
            return bytes
        }
        return add(subject, wall, now)
    }

    /// Repeats the state of the clock: only the time changes.
    private mutating func recordLength(until now: WallTime) -> [UInt8] {
        advance(to: now, at: now)
        var bytes: [UInt8] = []
        let subject = TraceOperation.Subject.machine(.synchronized(isSynchronized))
        writer.write(TraceOperation(offset: offset, subject: subject), to: &bytes)
        return bytes
    }

    /// A jump of the wall clock does not count as time that passed while awake.
    private mutating func add(_ subject: TraceOperation.Subject, _ wall: WallTime, _ now: WallTime) -> [UInt8] {
        advance(to: wall - subject.jump, at: now)
        latest = wall
        var bytes: [UInt8] = []
        if !subject.isManifest { addLinks(to: &bytes) }
        if case .machine(.synchronized(let isTrue)) = subject { isSynchronized = isTrue }
        counts.deeds += 1
        writer.write(TraceOperation(offset: offset, subject: subject), to: &bytes)
        return bytes
    }
}

extension TraceOperation.Subject {
    fileprivate var isManifest: Bool { if case .handler(_, .manifest) = self { true } else { false } }

    /// By how much the wall clock moves on within it.
    fileprivate var jump: TimeSpan {
        switch self {
        case .machine(.clock(let span)), .machine(.sleep(let span)), .machine(.reboot(let span)): span
        case .machine, .handler, .device: .zero
        }
    }
}

// The event of a line.
extension TraceRecorder {
    private static func kind(_ type: String, _ data: JSONValue) -> DeviceEvent.Kind? {
        let folded = UInt32(exactly: data["folded"]?.integer ?? 0) ?? 0
        switch type {
        case "wakebridge.device.connected": return .connected(folded: folded)
        case "wakebridge.device.disconnected":
            return .disconnected(reason: data["reason"]?.string ?? "unspecified", folded: folded)
        case "wakebridge.device.data":
            guard let name = data["characteristic"]?.string ?? data["stream"]?.string,
                let channel = Channel(kept: data["fragment"]?.string.map { "\(name)-\($0)" } ?? name),
                let bytes = data["raw"]?.string.flatMap({ [UInt8](hexadecimal: $0) })
            else { return nil }
            return .data(channel, bytes)
        default: return nil
        }
    }

    private static func remark(_ type: String, _ data: JSONValue) -> String? {
        switch type {
        case "wakebridge.device.gap":
            let count = data["count"]?.integer.map { "\($0)" } ?? "an unknown number"
            return "lost events: \(count), cause \(data["cause"]?.string ?? "unknown")"
        case "wakebridge.device.attention":
            let detail = data["detail"]?.string.map { ": \($0)" } ?? ""
            return "wants a person: \(data["kind"]?.string ?? "unknown")\(detail)"
        default: return nil
        }
    }
}
