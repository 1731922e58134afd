// The benchmarks: one program that conducts the measurements and, started by itself, plays the parts in them.
import Glibc

do {
    let words = Array(CommandLine.arguments.dropFirst())
    switch words.first {
    case "limit": try Limit.run(board: words[1], cgroup: words[2], handlers: Int(words[3]) ?? 1)
    case "crowd": try CrowdLimit(Array(words.dropFirst())).run()
    case "starter": try Starter.run(Array(words.dropFirst()))
    case "bridge": try BridgeUnderTest(Array(words.dropFirst())).run()
    default: try Suite(Options(words)).run()
    }
} catch {
    say("Benchmarks: \(error)", to: 2)
    exit(1)
}
