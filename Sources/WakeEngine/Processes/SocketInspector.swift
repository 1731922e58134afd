// Which sockets a handler holds while it is frozen, by which others may call it: looked for on a thread, after the freeze.
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

/// A manifest's rule for such sockets.
public enum SleepersListen: String, Hashable, Sendable, CaseIterable {
    /// They are reported once for each process.
    case report
    /// The process is ended, and the handler quarantined.
    case refuse
    case allow
}

/// The inspections of a process that is frozen.
struct SleepInspectors {
    let locks: LockInspector
    let sockets: SocketInspector
}

/// Owns the looks that are running, at most one a handler. Between two freezes there is none, so an idle machine is not woken.
final class SocketInspector {
    private let loop: EventLoop
    private let log: Log
    private var running: [HandlerID: Look] = [:]

    private struct Look {
        let watch: Watch
        let job: BackgroundJob<Result<[ReachableSocket], SystemError>>
        let process: HandlerProcess
        /// The number of the freeze that it is about.
        let freeze: Int
    }

    /// When a process is looked at next; the pauses grow while nothing is found.
    struct Schedule {
        private var due = Instant.zero
        private var pause = TimeSpan.seconds(1)
        private static let longestPause = TimeSpan.seconds(60)

        /// False before it is due.
        mutating func begin(at now: Instant) -> Bool {
            guard now >= due else { return false }
            due = now + pause
            pause = min(TimeSpan(nanoseconds: pause.nanoseconds * 2), Self.longestPause)
            return true
        }
    }

    init(on loop: EventLoop, log: Log) { (self.loop, self.log) = (loop, log) }

    /// Each process's sockets are reported once.
    func inspect(_ process: HandlerProcess) {
        guard process.sleepersListen != .allow, process.heldSockets.isEmpty, running[process.handler] == nil,
            process.beginSocketInspection(at: SystemClock.monotonic())
        else { return }
        do throws(SystemError) {
            let members = try process.processes()
            let job = try BackgroundJob { () -> Result<[ReachableSocket], SystemError> in
                do throws(SystemError) { return .success(try ReachableSocket.held(by: members)) } catch {
                    return .failure(error)
                }
            }
            let handler = process.handler
            let watch = try loop.watch(job.raw, for: .readable, cause: .handler, of: self) { $0.end(handler) }
            running[handler] = Look(watch: watch, job: job, process: process, freeze: process.freezeCount)
        } catch {
            report(error, of: process)
        }
    }

    /// Its process is gone.
    func cancel(_ process: HandlerProcess) {
        guard let look = running[process.handler], look.process === process else { return }
        running[process.handler] = nil
        look.watch.cancel()
    }

    /// Drops an answer that comes when the process runs again: what it holds by now is not known.
    private func end(_ handler: HandlerID) {
        guard let look = running.removeValue(forKey: handler) else { return }
        look.watch.cancel()
        guard let answer = look.job.removeResult(), look.process.isFrozen, look.process.freezeCount == look.freeze
        else { return }
        switch answer {
        case .success(let found): if !found.isEmpty { look.process.report(found) }
        case .failure(let error): report(error, of: look.process)
        }
    }

    private func report(_ error: SystemError, of process: HandlerProcess) {
        log.warning("cannot see which sockets handler \(process.name) holds: \(error.description)")
    }
}

extension [ReachableSocket] {
    /// `a listening socket (tcp 0.0.0.0:80) and 2 more`.
    package var phrase: String {
        guard let first else { return "" }
        return first.words + (count > 1 ? " and \(count - 1) more" : "")
    }

    package var consequence: String {
        if case .bus = first { return "calls to it over the bus are not answered before it wakes" }
        return "a client that connects gets no answer before it wakes"
    }
}

extension ReachableSocket {
    package static let advice =
        "let the bridge hold it (sockets in the manifest), or close it before the last acknowledgement"
}
