// The operator while an attack lasts: asks the daemon for its status over and over.
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

    init(_ socket: String) {
        asking = Task {
            var answers: [Answer] = []
            repeat {
                answers.append(await ask(socket))
                try? await pause(0.2)
            } while !Task.isCancelled
            return answers
        }
    }

    deinit { asking.cancel() }

    func stop() async -> Answers {
        asking.cancel()
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

/// A call under way outlives the wish to stop for some seconds: its answer tells most of a daemon that hangs.
private func ask(_ socket: String) async -> Answer {
    let start = monotonicNow()
    guard let tool = try? Child([Built.tool, "--socket", socket, "status", "--json"]) else {
        return .failure("the tool did not start")
    }
    while !tool.isOver {
        let limit = Task.isCancelled ? 5.0 : 30.0
        guard monotonicNow() - start < limit else { return .failure("no answer in \(monotonicNow() - start) s") }
        // A pause of its own, for a cancelled task knows none.
        await Task.detached { try? await pause(0.002) }.value
    }
    return tool.exit == 0 ? .after(monotonicNow() - start) : .failure(tool.talk)
}
