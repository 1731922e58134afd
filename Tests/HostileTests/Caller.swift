// The operator while an attack lasts: asks the daemon for its status over and over.
import Synchronization
import TestBench

/// How long each answer took, in seconds, and what came in place of one.
struct Answers {
    var times: [Double] = []
    var failures: [String] = []

    var longest: Double { times.max() ?? .infinity }
}

private enum Answer {
    case after(Double)
    case failure(String)
}

/// Asks until it is stopped, with the real tool.
final class Caller {
    private let asking: Task<[Answer], Never>
    private let isStopped = Flag()

    init(_ socket: String) {
        asking = Task { [isStopped] in
            var answers: [Answer] = []
            repeat {
                answers.append(await ask(socket))
                _ = try? await wait(0.2) { isStopped.isRaised }
            } while !isStopped.isRaised
            return answers
        }
    }

    deinit { isStopped.raise() }

    func stop() async -> Answers {
        isStopped.raise()
        var answers = Answers()
        for answer in await asking.value {
            switch answer {
            case .after(let seconds): answers.times.append(seconds)
            case .failure(let sentence): answers.failures.append(sentence)
            }
        }
        return answers
    }
}

private final class Flag: Sendable {
    private let state = Mutex(false)
    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}

/// Finishes its call even after the wish to stop, since a hanging daemon shows itself there.
private func ask(_ socket: String) async -> Answer {
    let start = monotonicNow()
    guard let tool = try? Child([Built.tool, "--socket", socket, "status", "--json"]) else {
        return .failure("the tool did not start")
    }
    let isOver = (try? await wait(30, every: 0.002) { tool.isOver }) ?? false
    guard isOver else { return .failure("no answer in \(monotonicNow() - start) s") }
    return tool.exit == 0 ? .after(monotonicNow() - start) : .failure(tool.talk)
}
