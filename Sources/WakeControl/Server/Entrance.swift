// A listening socket of the API on the loop: it runs the library when something is ready, and never while all is idle.
import WakeLoop
import WakeModel
import WakeSystem

final class Entrance {
    private let listening: FileDescriptor
    private let admission: Admission
    private let loop: EventLoop
    /// Nil until the library is loaded; clients that connect earlier wait.
    private var edge: HTTPEdge?
    private var readiness: Watch?
    /// Reports clients that wait to be accepted.
    private var arrivals: Watch?
    private var timeout: Timer?
    private var wake: Deferred?
    /// Loads the library again.
    private var retry: Timer?
    /// The entrance does nothing until then. It rests after work, so that strangers never keep the loop from devices.
    private var rest: Instant?
    private let isNetwork: Bool

    private static let nextTry = TimeSpan.seconds(1)
    /// Over TCP it takes at most a tenth of the loop's time.
    private static let restsForEachWork: Int64 = 9
    private static let longestRest = TimeSpan.milliseconds(250)
    /// Shorter work needs no rest, so that a single page is answered at once.
    private static let shortWork = TimeSpan.microseconds(500)

    init(_ listening: consuming FileDescriptor, _ admission: Admission, on loop: EventLoop) {
        self.listening = listening
        self.admission = admission
        self.loop = loop
        isNetwork = if case .web = admission { true } else { false }
    }

    /// Serves from now on. The library is loaded.
    func begin(_ limits: HTTPEdge.Limits, _ answers: Answers) throws(SystemError) {
        let wake = try loop.deferred(priority: .normal, of: self) { $0.run() }
        timeout = try loop.timer(on: .monotonic, of: self) { $0.run() }
        let edge = try HTTPEdge(
            listening: listening.raw, loop: loop, admission: admission, limits: limits, wake: wake, answers: answers)
        readiness = try loop.watch(edge.descriptor, for: .readable, of: self) { $0.run() }
        arrivals = try loop.watch(listening.raw, for: .readable, of: self) { $0.run() }
        (self.wake, self.edge) = (wake, edge)
    }

    /// Tries again a second after a client has come.
    func awaitClient(_ retry: Timer) {
        self.retry = retry
        readiness = try? loop.watch(listening.raw, for: .readable, of: self) { $0.clientWaits() }
    }

    private func clientWaits() {
        readiness?.disable()
        retry?.arm(at: SystemClock.monotonic() + Self.nextTry)
    }

    /// Ends every connection. Never call it from within an answer.
    func close() {
        (readiness, arrivals, timeout, wake) = (nil, nil, nil, nil)
        edge?.stop()
    }

    /// Ends the streams of one holder of a token.
    func endStreams(of holder: String) { edge?.endStreams(of: holder) }

    private func run() {
        guard let edge else { return }
        loop.charge(isNetwork ? .http : .control)
        let begun = SystemClock.monotonic()
        if let rest, begun < rest { return }
        rest = nil
        let isAccepting = edge.accept()
        let milliseconds = edge.run()
        if !isAccepting { return pause(until: begun + Self.longestRest) }
        if isNetwork, let end = restEnd(after: begun) { return pause(until: end) }
        readiness?.enable()
        if edge.hasRoom { arrivals?.enable() } else { arrivals?.disable() }
        guard let milliseconds else {
            timeout?.disarm()
            return
        }
        // With zero, a rounding in the library's clock could make this loop spin; its descriptor reports real work at once.
        timeout?.arm(at: SystemClock.now().monotonic + .milliseconds(max(milliseconds, 1)))
    }

    /// The end of its rest; nil where it has done little.
    private func restEnd(after begun: Instant) -> Instant? {
        let now = SystemClock.monotonic()
        let work = now - begun
        return work > Self.shortWork ? now + min(work * Self.restsForEachWork, Self.longestRest) : nil
    }

    /// Rests until `end`, when the timer runs it again.
    private func pause(until end: Instant) {
        rest = end
        readiness?.disable()
        arrivals?.disable()
        timeout?.arm(at: end)
    }
}
