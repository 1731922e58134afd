// Which file locks a frozen process holds: inspected in the loop, and on a thread where that may take long.
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the inspections that are running, at most one a handler.
final class LockInspector {
    private let loop: EventLoop
    private let locks: FileLocks
    private let log: Log
    private var running: [HandlerID: Inspection] = [:]

    enum Occasion {
        /// It has just frozen.
        case freeze
        /// It held a lock at the last inspection.
        case recheck
    }

    private struct Inspection {
        let watch: Watch
        let job: BackgroundJob<Answer>
        let occasion: Occasion
        /// The number of the freeze that it is about.
        let freeze: Int
        weak var process: HandlerProcess?
    }

    private struct Answer: Sendable {
        /// Nil where a brief inspection found no answer.
        let state: Result<LockState, SystemError>?
        let duration: TimeSpan
    }

    /// An inspection in the loop delays all other handlers. One descriptor may list ten thousand locks. A process needs time to take
    /// so many, and then keeps them.
    private static let longestInLoop = TimeSpan.milliseconds(5)
    private static let longAwake = TimeSpan.seconds(1)
    private static let pause = TimeSpan.milliseconds(450)

    init(on loop: EventLoop, log: Log) throws(SystemError) {
        self.loop = loop
        self.log = log
        locks = try FileLocks()
    }

    /// Only after the freeze, because a running handler may hold locks. The process gets the finding, now or later.
    func inspect(_ process: HandlerProcess, _ occasion: Occasion) {
        let members: Members
        do { members = try process.processes() } catch {
            return report(process, .failure(error), occasion)
        }
        guard members.mayContain(process.pid) else { return process.ingest(.escaped, occasion) }
        if process.lockInspection.duration <= Self.longestInLoop, process.lastAwake <= Self.longAwake {
            let answer = Self.inspect(members, with: locks, .brief)
            process.lockInspection.duration = answer.duration
            if let state = answer.state { return report(process, state, occasion) }
        }
        begin(process, members, occasion)
    }

    private func begin(_ process: HandlerProcess, _ members: Members, _ occasion: Occasion) {
        let handler = process.handler
        let now = SystemClock.monotonic()
        // A slow inspection is not done at each freeze. Until the next one a lock counts as held.
        let isDue =
            process.lockInspection.duration <= Self.longestInLoop
            || now - process.lockInspection.lastOnThread >= Self.pause
        guard isDue, running[handler] == nil else { return report(process, .success(.held), occasion) }
        process.lockInspection.lastOnThread = now
        do {
            let job = try BackgroundJob { Self.inspect(members) }
            let watch = try loop.watch(job.raw, for: .readable, cause: .handler, of: self) { $0.end(handler) }
            running[handler] = Inspection(
                watch: watch, job: job, occasion: occasion, freeze: process.freezeCount, process: process)
        } catch {
            // A brief inspection needs no new descriptor.
            report(process, Self.inspect(members, with: locks, .brief).state ?? .success(.held), occasion)
        }
    }

    /// Cancels the watch before its descriptor closes. Drops an answer that comes after the next freeze.
    private func end(_ handler: HandlerID) {
        guard let inspection = running.removeValue(forKey: handler) else { return }
        inspection.watch.cancel()
        guard let answer = inspection.job.removeResult(), let process = inspection.process,
            process.freezeCount == inspection.freeze
        else {
            return
        }
        process.lockInspection.duration = answer.duration
        report(process, answer.state ?? .success(.held), inspection.occasion)
    }

    private static func inspect(_ members: Members) -> Answer {
        do throws(SystemError) { return inspect(members, with: try FileLocks(), .thorough) } catch {
            return Answer(state: .failure(error), duration: .zero)
        }
    }

    private static func inspect(
        _ members: Members, with locks: borrowing FileLocks, _ depth: FileLocks.Depth
    ) -> Answer {
        let begun = SystemClock.monotonic()
        let state: Result<LockState, SystemError>?
        do throws(SystemError) { state = try locks.inspect(members, depth).map { .success($0) } } catch {
            state = .failure(error)
        }
        return Answer(state: state, duration: SystemClock.monotonic() - begun)
    }

    private func report(_ process: HandlerProcess, _ state: Result<LockState, SystemError>, _ occasion: Occasion) {
        process.ingest(finding(state, process.name), occasion)
    }

    /// For lack of descriptors the locks count as held, and are inspected again soon.
    private func finding(_ state: Result<LockState, SystemError>, _ name: String) -> SuspensionFinding {
        switch state {
        case .success(.free): return .clean
        case .success(.held): return .holdsLock
        case .success(.blocking): return .blocksOthers
        case .failure(let error):
            log.error("cannot see which locks handler \(name) holds: \(error.description)")
            return error.errno.isExhaustion ? .holdsLock : .clean
        }
    }
}
