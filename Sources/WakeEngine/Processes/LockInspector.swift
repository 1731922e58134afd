// What a frozen process keeps from others by the file locks it holds: looked at in the loop, and on a thread where that may take long.
import WakeCore
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the looks that are under way, one a handler.
final class LockInspector {
    private let loop: EventLoop
    private let locks: FileLocks
    private let log: Log
    private var underWay: [HandlerID: Look] = [:]

    /// Why it is looked at.
    enum Occasion {
        /// It froze just now.
        case freeze
        /// It held a lock when it was looked at last.
        case recheck
    }

    private struct Look {
        let watch: Watch
        let job: BackgroundJob<Answer>
        let occasion: Occasion
        /// Which of its freezes it is about.
        let freeze: Int
        weak var process: HandlerProcess?
    }

    private struct Answer: Sendable {
        /// Nil where the look was too brief to tell.
        let state: Result<LockState, SystemError>?
        let took: TimeSpan
    }

    /// A look in the loop keeps all other handlers waiting. One descriptor may list ten thousand locks, which nothing shows before; to
    /// take so many a process needs time, and it keeps them.
    private static let longestInLoop = TimeSpan.milliseconds(5)
    private static let longAwake = TimeSpan.seconds(1)
    private static let pause = TimeSpan.milliseconds(450)

    init(on loop: EventLoop, log: Log) throws(SystemError) {
        self.loop = loop
        self.log = log
        locks = try FileLocks()
    }

    /// Looks only after the freeze: before it, what is held is the handler's business. The process gets the finding, now or later.
    func inspect(_ process: HandlerProcess, _ occasion: Occasion) {
        let members: Members
        do { members = try process.processes() } catch {
            return tell(process, .failure(error), occasion)
        }
        guard members.mayContain(process.pid) else { return process.found(.escaped, occasion) }
        if process.lockLook.took <= Self.longestInLoop, process.lastAwake <= Self.longAwake {
            let answer = Self.look(at: members, with: locks, .brief)
            process.lockLook.took = answer.took
            if let state = answer.state { return tell(process, state, occasion) }
        }
        begin(process, members, occasion)
    }

    private func begin(_ process: HandlerProcess, _ members: Members, _ occasion: Occasion) {
        let handler = process.handler
        let now = SystemClock.monotonic()
        // One that is dear is not done at each freeze; in the meantime a lock counts as held, and is looked at again soon.
        let isDue = process.lockLook.took <= Self.longestInLoop || now - process.lockLook.thoroughAt >= Self.pause
        guard isDue, underWay[handler] == nil else { return tell(process, .success(.held), occasion) }
        process.lockLook.thoroughAt = now
        do {
            let job = try BackgroundJob { Self.look(at: members) }
            let watch = try loop.watch(job.raw, for: .readable, of: self) { $0.end(handler) }
            underWay[handler] = Look(
                watch: watch, job: job, occasion: occasion, freeze: process.freezeCount, process: process)
        } catch {
            // A brief look needs nothing that is not open already.
            tell(process, Self.look(at: members, with: locks, .brief).state ?? .success(.held), occasion)
        }
    }

    /// The watch goes before what it watches. An answer that comes after the next freeze is of no use, and is not told.
    private func end(_ handler: HandlerID) {
        guard let look = underWay.removeValue(forKey: handler) else { return }
        look.watch.cancel()
        guard let answer = look.job.removeResult(), let process = look.process, process.freezeCount == look.freeze
        else {
            return
        }
        process.lockLook.took = answer.took
        tell(process, answer.state ?? .success(.held), look.occasion)
    }

    private static func look(at members: Members) -> Answer {
        do throws(SystemError) { return look(at: members, with: try FileLocks(), .thorough) } catch {
            return Answer(state: .failure(error), took: .zero)
        }
    }

    private static func look(
        at members: Members, with locks: borrowing FileLocks, _ depth: FileLocks.Depth
    ) -> Answer {
        let begun = SystemClock.monotonic()
        let state: Result<LockState, SystemError>?
        do throws(SystemError) { state = try locks.inspect(members, depth).map { .success($0) } } catch {
            state = .failure(error)
        }
        return Answer(state: state, took: SystemClock.monotonic() - begun)
    }

    private func tell(_ process: HandlerProcess, _ state: Result<LockState, SystemError>, _ occasion: Occasion) {
        process.found(finding(state, process.name), occasion)
    }

    /// What cannot be seen for want of a descriptor is not gone, and is looked at again soon.
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
