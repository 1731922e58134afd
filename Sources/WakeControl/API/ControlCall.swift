// A call of the control API, as one value that the daemon switches over, and its parsing from a request.
import WakeModel

public enum ControlCall: Hashable, Sendable {
    case status
    case handlers
    case handler(String)
    case why(handler: String)
    /// The scheduled entries of one handler, or of all.
    case pending(handler: String?)
    /// Has an entry of what is scheduled raised now.
    case raise(ScheduledEntry, handler: String)
    /// Takes back what is pending of a job, and ends its run.
    case cancelJob(String, handler: String)
    /// Sends a message to a handler with the named token; nil on the control socket.
    case send(InboxMessage, handler: String, token: String?)
    /// By session and id: `photos/17`.
    case cancelTransfer(String, handler: String)
    case conditions
    case play(ConditionPlay)
    /// All devices, or the named one.
    case devices(named: String?)
    /// An operator's request of a device, which a handler could make too.
    case request(DeviceRequest)
    case setSession(device: String, LinkSession)
    case nameAccessory(AccessoryOrder)
    case forgetAccessory(device: String)
    case start(handler: String)
    case stop(handler: String, keepsSessions: Bool)
    case restart(handler: String)
    /// Keeps the handler awake for as long as the stream is open.
    case attach(handler: String)
    case reload
    case simulate(Simulation)
    case deadLetters
    case replayDeadLetters(DeadLetterChoice)
    case dropDeadLetters(DeadLetterChoice)
    /// Event lines as they come; of every device where none is named.
    case events(device: String?)
    /// All that a trace can hold, as it comes.
    case day
    case logs(LogQuestion)
    case watching(WatchingCall)
    /// In the format that the client accepts.
    case metrics(accept: String)
    /// The facts about itself that a client with that role receives.
    case me(AccessRole?)
    case login(LoginAttempt)
    case logout
    /// The description of this API.
    case description
    case tokens
    case makeToken(TokenHolder)
    case revokeToken(String)
}

/// An entry that a person can raise: a job or an alarm by its id, or the poll.
public enum ScheduledEntry: Hashable, Sendable {
    case job(String)
    case alarm(String)
    case poll
}

/// The state that a condition simulates, in place of the true one.
public struct ConditionPlay: Hashable, Sendable {
    public enum Value: String, Hashable, Sendable, CaseIterable { case on, off, real }

    /// As it was sent: `power`, `mount:/data`.
    public var word: String
    public var value: Value

    package init(word: String, value: Value) { (self.word, self.value) = (word, value) }
}

/// Something that is simulated for a test.
public enum Simulation: Hashable, Sendable {
    public enum MemoryLevel: String, Hashable, Sendable, CaseIterable { case low, critical }

    case wake(handler: String)
    case expire(handler: String)
    case memory(MemoryLevel)
    case kill(handler: String)
    case disconnect(device: String)
    case sleep(isOn: Bool)
    case heat(isOn: Bool)
    case battery(isOn: Bool)

    static let names = ["wake", "expire", "memory", "kill", "disconnect", "sleep", "heat", "battery"]
}

public enum DeadLetterChoice: Hashable, Sendable {
    case sequence(Sequence)
    case handler(String)
    case all
}

public struct LogQuestion: Hashable, Sendable {
    /// Nil for every handler.
    public var handler: String?
    /// True for a stream that goes on with new lines.
    public var follows = false
    /// How many of the latest lines to send first.
    public var lines = 100

    static let mostLines = 10_000
}

extension ControlCall {
    /// Reads a request. A refusal explains what is wrong with it and which address, method or key is nearest.
    public init(_ request: ControlRequest) throws(ControlRefusal) {
        self = try Endpoint.find(request).call(request)
    }

    /// The server's `handle`: performs the call, or returns the refusal.
    public static func answer(_ request: ControlRequest, _ perform: (ControlCall) -> ControlResponse) -> ControlResponse
    {
        do { return perform(try ControlCall(request)) } catch { return .refusal(error) }
    }
}
