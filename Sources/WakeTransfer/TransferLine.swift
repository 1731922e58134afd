// The lines between the daemon and `wakebridge-transferd`: a JSON object each, both ways.
import WakeModel

/// A transfer, for both ends: the number is given once, and means the same file after either end has restarted.
public struct TransferID: Hashable, Sendable, Comparable {
    /// The handler's name.
    public var handler: String
    public var number: Int64

    public init(_ handler: String, _ number: Int64) { (self.handler, self.number) = (handler, number) }

    public static func < (left: TransferID, right: TransferID) -> Bool {
        (left.handler, left.number) < (right.handler, right.number)
    }
}

public struct TransferCredential: Hashable, Sendable {
    public var user: String
    public var password: String

    public init(user: String, password: String) { (self.user, self.password) = (user, password) }
}

/// An order of the daemon.
public enum TransferCommand: Hashable, Sendable {
    /// It moves from now on, or goes on moving. If it has ended already, its result comes again.
    case start(TransferOrder)
    /// It pauses, and keeps its part.
    case pause
    /// It is not wanted any more: all of it is removed.
    case cancel
    /// Its result is in the journal: it need not be kept any more.
    case confirm
    case answer(TransferCredential)

    /// - Parameter directory: the handler's state directory.
    public func line(for id: TransferID, in directory: String) -> [UInt8] {
        JSONWriter.line { writer in
            writer.field("do", word)
            writer.field("handler", id.handler)
            writer.field("number", id.number)
            switch self {
            case .start(let order):
                writer.field("directory", directory)
                order.write(into: &writer)
            // A program that has ended may have left a file there.
            case .cancel, .confirm: writer.field("directory", directory)
            case .answer(let credential):
                writer.field("user", credential.user)
                writer.field("password", credential.password)
            case .pause: break
            }
        }
    }

    private var word: String {
        switch self {
        case .start: "start"
        case .pause: "pause"
        case .cancel: "cancel"
        case .confirm: "confirm"
        case .answer: "answer"
        }
    }
}

/// A line as it arrives; nil where it is none of this protocol.
public struct AddressedCommand: Hashable, Sendable {
    public var id: TransferID
    /// Empty if the line does not contain it.
    public var directory: String
    public var command: TransferCommand

    public init?(line: some Collection<UInt8>) {
        guard let value = try? JSONValue(parsing: line), let id = TransferID(value) else { return nil }
        self.id = id
        directory = value["directory"]?.string ?? ""
        switch value["do"]?.string {
        case "start":
            guard let order = TransferOrder(value), directory.hasPrefix("/") else { return nil }
            command = .start(order)
        case "pause": command = .pause
        case "cancel": command = .cancel
        case "confirm": command = .confirm
        case "answer":
            guard let user = value["user"]?.string, let password = value["password"]?.string else { return nil }
            command = .answer(TransferCredential(user: user, password: password))
        default: return nil
        }
    }
}

/// A report on one transfer.
public enum TransferNews: Hashable, Sendable {
    /// A part or a result of it is kept, from whatever time.
    case held
    case moved(done: Int64, total: Int64?)
    /// It failed for now, and is tried again by itself.
    case retries(in: TimeSpan, because: String)
    /// The server requires a credential.
    case challenged(realm: String)
    case ended(TransferResult)

    /// It may be on the move.
    public var isOfOneThatMoves: Bool {
        switch self {
        case .held, .moved, .retries: true
        case .challenged, .ended: false
        }
    }

    public func line(of id: TransferID) -> [UInt8] {
        JSONWriter.line { writer in
            writer.field("handler", id.handler)
            writer.field("number", id.number)
            switch self {
            case .held: writer.field("is", "held")
            case .moved(let done, let total):
                writer.field("is", "moved")
                writer.field("done", done)
                if let total { writer.field("total", total) }
            case .retries(let wait, let reason):
                writer.field("is", "retries")
                writer.field("in_ms", wait.wholeMilliseconds)
                writer.field("because", reason)
            case .challenged(let realm):
                writer.field("is", "challenged")
                writer.field("realm", realm)
            case .ended(let result):
                writer.field("is", "ended")
                result.write(into: &writer)
            }
        }
    }
}

/// A line as it arrives; nil where it is none of this protocol.
public struct AddressedNews: Hashable, Sendable {
    public var id: TransferID
    public var news: TransferNews

    public init?(line: some Collection<UInt8>) {
        guard let value = try? JSONValue(parsing: line), let id = TransferID(value) else { return nil }
        self.id = id
        switch value["is"]?.string {
        case "held": news = .held
        case "moved":
            guard let done = value["done"]?.integer, Self.byteCounts.contains(done) else { return nil }
            // A server's claim beyond that is no length.
            let total = value["total"]?.integer.flatMap { Self.byteCounts.contains($0) ? $0 : nil }
            news = .moved(done: done, total: total)
        case "retries":
            guard let wait = value["in_ms"]?.integer, (0...Self.longestWait).contains(wait) else { return nil }
            news = .retries(in: .milliseconds(wait), because: value["because"]?.string ?? "")
        case "challenged": news = .challenged(realm: value["realm"]?.string ?? "")
        case "ended":
            guard let result = TransferResult(value) else { return nil }
            news = .ended(result)
        default: return nil
        }
    }

    private static let longestWait: Int64 = 7 * 86_400_000
    /// So small that those of all transfers can be added up.
    static let byteCounts: ClosedRange<Int64> = 0...(1 << 50)
}

extension TransferID {
    fileprivate init?(_ value: JSONValue) {
        guard let handler = value["handler"]?.string, let number = value["number"]?.integer, number > 0 else {
            return nil
        }
        self.init(handler, number)
    }
}
