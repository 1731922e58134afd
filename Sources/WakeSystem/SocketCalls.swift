// Calls on sockets that other processes share, done on threads: each of these processes can make a call last as long as it likes.
import CLinux
import Glibc
import Synchronization
import WakeModel

/// An action on a socket, or a question about it.
public enum SocketAct: Hashable, Sendable {
    case look
    /// Whether packets to its peer leave from another address by now.
    case checkWay
    /// Whether the kernel probes its peer.
    case probe(Bool)
    /// Its close waits for nothing, unless another process sets that again.
    case forgetLinger
    /// Its peer notices, even if another process has it too.
    case end
    case close
}

public struct SocketCall: Sendable {
    let act: SocketAct
    let raw: Int32
    let serial: Int

    /// - Parameters:
    ///   - raw: stays open until its `close`, which is the last call on it.
    ///   - serial: comes back with the answer.
    public init(_ act: SocketAct, _ raw: Int32, serial: Int = 0) {
        (self.act, self.raw, self.serial) = (act, raw, serial)
    }
}

public struct SocketAnswer: Sendable {
    public enum Finding: Sendable {
        case look(SocketLook)
        case otherWay
        case closed
        case failed(SystemError)
    }

    public let serial: Int
    public let finding: Finding
}

/// The calls of one sharer, such as a handler, are done in order on one thread. It ends after the last one. While a
/// process holds the lock of a socket, and while a close lingers, the calls behind wait: they are of the same sharer.
public final class SocketCalls: Sendable {
    private struct State {
        /// The waiting calls, by sharer. A sharer is among them as long as its thread is there.
        var waiting: [String: [SocketCall]] = [:]
        var answers: [SocketAnswer] = []
    }

    private let state = Mutex(State())
    private let bell: FileDescriptor

    /// Readable once there are answers.
    public var raw: Int32 { bell.raw }

    public init() throws(SystemError) {
        bell = FileDescriptor(owning: Int32(try attemptC { clinux_bell() }.get("make", "an event descriptor")))
    }

    /// Makes the call here if no thread can be started: not to make it would be worse than to wait for it.
    public func add(_ call: SocketCall, of sharer: String) {
        guard begin(call, of: sharer) else { return }
        do throws(SystemError) { try WorkThread.begin { [self] in run(sharer) } } catch { run(sharer) }
    }

    /// All that came since this was called last.
    public func removeAnswers() -> [SocketAnswer] {
        var rings = [UInt8](repeating: 0, count: 8)
        _ = try? bell.read(into: &rings)
        return state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// Waits until all calls are done, up to a limit; for the end of the process.
    @discardableResult
    public func wait(atMost limit: TimeSpan) -> Bool {
        let end = SystemClock.monotonic() + limit
        while state.withLock({ !$0.waiting.isEmpty }) {
            if SystemClock.monotonic() >= end { return false }
            SystemClock.pause(.milliseconds(2))
        }
        return true
    }

    /// True where a thread is to be started for it.
    private func begin(_ call: SocketCall, of sharer: String) -> Bool {
        state.withLock { state in
            let isFirst = state.waiting[sharer] == nil
            state.waiting[sharer, default: []].append(call)
            return isFirst
        }
    }

    private func run(_ sharer: String) {
        while let call = next(of: sharer) {
            guard let finding = call.perform() else { continue }
            state.withLock { $0.answers.append(SocketAnswer(serial: call.serial, finding: finding)) }
            _ = try? bell.write([1, 0, 0, 0, 0, 0, 0, 0])
        }
    }

    private func next(of sharer: String) -> SocketCall? {
        state.withLock { state in
            if let waiting = state.waiting[sharer], !waiting.isEmpty { return state.waiting[sharer]?.removeFirst() }
            state.waiting[sharer] = nil
            return nil
        }
    }
}

extension SocketCall {
    /// Nil where there is nothing to report.
    fileprivate func perform() -> SocketAnswer.Finding? {
        do throws(SystemError) {
            switch act {
            case .look: return .look(try SocketLook(at: raw))
            case .checkWay: return NetworkSocket.isOnItsWay(raw) == false ? .otherWay : nil
            case .probe(let isProbed): try NetworkSocket.probe(raw, isProbed)
            case .forgetLinger: _ = clinux_forget_linger(raw)
            case .end: NetworkSocket.end(raw)
            case .close:
                _ = FileDescriptor(owning: raw)
                return .closed
            }
            return nil
        } catch {
            return .failed(error)
        }
    }
}
