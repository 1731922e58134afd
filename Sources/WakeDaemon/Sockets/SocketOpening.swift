// An attempt to reach a peer: a thread resolves its name, and the addresses are tried in order, without a wait.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// Its owner watches what it waits for, and calls ``advance()`` then.
final class SocketOpening {
    enum Progress: ~Copyable {
        case awaiting(Int32, Readiness)
        case opened(FileDescriptor)
        case failed(SocketFailure)
    }

    private enum Stage {
        case resolving(BackgroundJob<[NetworkAddress]>)
        case connecting
    }

    let rule: SocketRule
    let number: Int32
    private let isForDatagrams: Bool
    private var stage: Stage
    private var addresses: [NetworkAddress] = []
    private var failure = SocketFailure.unresolved
    private var descriptor: FileDescriptor?
    /// The watch of the current stage. Its owner sets it, and also the timer for the end of its patience with that.
    var watch: Watch?
    var timer: Timer?

    /// With the name, and with each of its addresses.
    static let patience = TimeSpan.seconds(10)

    init(
        _ rule: SocketRule, _ number: Int32, host: String, port: UInt16, forDatagrams: Bool
    ) throws(SystemError) {
        (self.rule, self.number, isForDatagrams) = (rule, number, forDatagrams)
        stage = .resolving(
            try BackgroundJob { NetworkSocket.addresses(of: host, port: port, forDatagrams: forDatagrams) })
    }

    /// A watch ends before what it watches is closed.
    deinit { watch?.cancel() }

    func advance() -> Progress {
        switch stage {
        case .resolving(let job):
            guard let found = job.removeResult() else { return .awaiting(job.raw, .readable) }
            watch = nil
            addresses = found
            stage = .connecting
            return tryNext()
        case .connecting: return conclude()
        }
    }

    /// The current stage takes too long. Another address of the name may answer.
    func skip() -> Progress {
        watch = nil
        descriptor = nil
        failure = .timeout
        return tryNext()
    }

    private func conclude() -> Progress {
        watch = nil
        guard let raw = raw else { return tryNext() }
        if let errno = NetworkSocket.outcome(of: raw) {
            failure = SocketFailure(errno)
            descriptor = nil
            return tryNext()
        }
        if let open = descriptor.take() { return .opened(open) }
        return .failed(failure)
    }

    private var raw: Int32? {
        switch descriptor {
        case .some(let open): open.raw
        case .none: nil
        }
    }

    private func tryNext() -> Progress {
        while !addresses.isEmpty {
            let address = addresses.removeFirst()
            do throws(SystemError) {
                let begun = try NetworkSocket.connect(to: address, forDatagrams: isForDatagrams)
                let raw = begun.raw
                descriptor = consume begun
                return .awaiting(raw, .writable)
            } catch {
                failure = SocketFailure(error.errno)
            }
        }
        return .failed(failure)
    }
}

extension SocketFailure {
    init(_ errno: Errno) {
        switch errno {
        case .connectionRefused, .noEntry, .connectionReset: self = .refused
        case .unreachableHost, .unreachableNetwork, .noSuchAddress: self = .unreachable
        case .timedOut: self = .timeout
        case .addressInUse: self = .taken
        default: self = .failed
        }
    }
}
