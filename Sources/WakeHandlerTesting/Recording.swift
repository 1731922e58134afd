// A recorded trace that a test plays into a handler's session, without a daemon and without a device.
import WakeHandler
internal import WakeModel
internal import WakeProfiles
internal import WakeTrace

/// A recorded trace that a test plays into a handler's session.
///
/// ```swift
/// let recording = try Recording(trace: "recording.trace", devices: "Devices")
/// let answers = recording.play(to: BeatPrinter())
/// #expect(answers.unanswered.isEmpty)
/// ```
///
/// Each operation of a device becomes one event, with the line that the daemon writes for it. Waiting takes no time: a
/// retry comes again when the recording has gone on for that long, or at its end. What the machine did moves the clock and
/// is not played otherwise, and neither is what a handler did: the handler under test decides for itself.
public struct Recording: Sendable {
    /// Why a recording cannot be played, as one sentence.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// The answers to the handler's writes and reads.
    public enum RequestAnswers: Hashable, Sendable {
        /// The error `replayed`, as in `wakebridge replay`.
        case refused
        /// Writes succeed. A read brings the bytes under its characteristic or stream, and fails where there are none.
        case answered(values: [String: [UInt8]])
    }

    /// ``RequestAnswers/refused`` unless you set it.
    public var requestAnswers = RequestAnswers.refused
    /// The text that the handler gets back in ``Restoration/checkpoint``; nil for a first start.
    public var checkpoint: String?
    /// The number of events after which the handler's time ends in 2 s; nil for never.
    public var expiresAfter: Int?
    /// Alarms, polls and jobs that come due beside what the devices do.
    public var occasions: [PlayedOccasion] = []
    /// Alarms that are set, and jobs that are submitted, before the handler is launched.
    public var (pendingAlarms, pendingTasks): ([String], [String]) = ([], [])
    /// With which code all orders of a verb are refused, such as `["submit": .tooMany]`. The others are followed.
    public var orderRefusals: [String: BridgeError.Code] = [:]
    /// An event that was refused so often comes no more. It and its device's later events are then among
    /// ``HandlerAnswers/unanswered``.
    public var mostAttempts = 5

    let start: WallTime
    let events: [RecordedEvent]
    let devices: [PlayedDevice]

    /// Reads a trace and the profiles of its devices.
    /// - Parameters:
    ///   - path: a file that `wakebridge record` or `wakebridge import` wrote.
    ///   - folder: holds a folder for each profile, each with its `profile.json5`, as `Devices` does.
    /// - Throws: a sentence that names the file, and the line where one is wrong.
    public init(trace path: String, devices folder: String) throws(Fault) {
        let text = try Self.read(path)
        var sources: [ProfileLibrary.Source] = []
        for file in paths(matching: "/*/profile.json5", below: folder) {
            let name = file.split(separator: "/").dropLast().last.map(String.init) ?? file
            sources.append(ProfileLibrary.Source(name: name, file: file, text: try Self.read(file)))
        }
        let shared = try paths(matching: "/gatt/*.json5", below: folder).map { file throws(Fault) in
            let name = file.split(separator: "/").last.map { String($0.dropLast(6)) } ?? file
            return SharedDefinition(name: name, file: file, text: try Self.read(file))
        }
        try self.init(text, named: path, sources, shared)
    }

    /// Plays a trace that a test writes down itself; its events are delivered raw, since it has no profiles.
    /// - Throws: a sentence that names the line which is wrong.
    public init(text: String) throws(Fault) { try self.init(Array(text.utf8), named: "the text", [], []) }

    /// Plays alarms, polls and jobs to a handler that has no devices.
    /// - Parameter start: what the wall clock shows at the beginning.
    public init(
        occasions: [PlayedOccasion], start: Timestamp = Timestamp(microsecondsSince1970: 1_795_246_966_000_000)
    ) {
        self.start = WallTime(microseconds: start.microsecondsSince1970)
        (events, devices) = ([], [])
        self.occasions = occasions
    }

    private init(
        _ text: [UInt8], named name: String, _ sources: [ProfileLibrary.Source], _ shared: [SharedDefinition]
    ) throws(Fault) {
        let (library, errors) = ProfileLibrary.load(sources, shared: shared)
        if let error = errors.first { throw Fault(description: "A profile cannot be used: \(error). Fix the file.") }
        var reader = TraceReader(bytes: text)
        do {
            let header = try reader.header()
            start = header.start
            devices = header.devices.map { PlayedDevice($0, library) }
            var clock = TraceClock(start: header.start)
            var events: [RecordedEvent] = []
            while let operation = try reader.next() {
                if let event = RecordedEvent(operation, clock) { events.append(event) }
                clock.follow(operation)
            }
            self.events = events
        } catch {
            throw Fault(description: "The trace \(name) cannot be played: \(error). Fix that line, or record it again.")
        }
    }

    private static func read(_ path: String) throws(Fault) -> [UInt8] {
        do {
            return try readFile(path)
        } catch {
            throw Fault(description: "The file \(path) cannot be read: \(error.reason). Name one that is there.")
        }
    }
}

/// An event of a device, and its time.
struct RecordedEvent: Sendable {
    let device: Int
    let kind: DeviceEvent.Kind
    /// Since the start of the recording, with what the machine slept.
    let elapsed: TimeSpan
    let wall: WallTime

    init(device: Int, kind: DeviceEvent.Kind, elapsed: TimeSpan, wall: WallTime) {
        (self.device, self.kind, self.elapsed, self.wall) = (device, kind, elapsed, wall)
    }

    init?(_ operation: TraceOperation, _ clock: TraceClock) {
        guard case .device(let device, let kind) = operation.subject else { return nil }
        (self.device, self.kind) = (device, kind)
        (elapsed, wall) = (clock.elapsed(at: operation.offset), clock.wall(at: operation.offset))
    }
}

// Playing.
extension Recording {
    /// Plays everything to a delegate, and returns what it answered.
    @MainActor
    public func play(to delegate: any BackgroundSessionDelegate) -> HandlerAnswers {
        let session = BackgroundSession(collectingWith: delegate)
        var daemon = PlayedDaemon(self)
        while let bytes = daemon.nextLine() {
            session.receive(bytes)
            exchange(session, &daemon)
        }
        session.endInput()
        exchange(session, &daemon)
        return daemon.finish()
    }

    /// Plays everything to a handler that takes the events of its session as a sequence, and returns what it answered.
    ///
    /// The next event comes when the handler waits for it, so its own `await`s take the time that they take.
    /// - Throws: what the handler throws.
    @MainActor
    public func play(
        _ handler: @escaping @MainActor @Sendable (BackgroundSession) async throws -> Void
    ) async throws -> HandlerAnswers {
        let session = BackgroundSession(collectingWith: nil)
        let progress = Progress()
        let running = Task {
            defer { progress.isFinished = true }
            try await handler(session)
        }
        var daemon = PlayedDaemon(self)
        while !progress.isFinished, let bytes = daemon.nextLine() {
            session.receive(bytes)
            await exchange(session, &daemon, progress)
        }
        session.endInput()
        let result = await running.result
        exchange(session, &daemon)
        try result.get()
        return daemon.finish()
    }

    @MainActor
    private final class Progress {
        var isFinished = false
    }

    @MainActor
    private func exchange(_ session: BackgroundSession, _ daemon: inout PlayedDaemon) {
        while true {
            let answer = daemon.hear(session.drainLines())
            if answer.isEmpty { return }
            session.receive(answer)
        }
    }

    /// Runs until the handler waits for the next event, and its closures have returned. Work whose time is to end gets
    /// time to begin, and no more.
    @MainActor
    private func exchange(_ session: BackgroundSession, _ daemon: inout PlayedDaemon, _ progress: Progress) async {
        var looks = 0
        repeat {
            await Task.yield()
            // A handler that waits for something real is not looked at all the time.
            looks += 1
            if looks > 100 { try? await Task.sleep(for: .milliseconds(1)) }
            exchange(session, &daemon)
        } while !isIdle(session, daemon, progress, after: looks)
    }

    @MainActor
    private func isIdle(
        _ session: BackgroundSession, _ daemon: PlayedDaemon, _ progress: Progress, after looks: Int
    ) -> Bool {
        if daemon.expiresNext { return looks >= 20 }
        return !session.isPerforming && (session.isWaitingForEvents || progress.isFinished)
    }
}
