// The benchmarks: one program that conducts the measurements and, started by itself, plays every part in them.
import Glibc

do {
    let words = Array(CommandLine.arguments.dropFirst())
    switch words.first {
    case "handler": try Handler.run(board: words[1])
    case "limit": try Limit.run(board: words[1], cgroup: words[2])
    case "bridge": try BridgeUnderTest(Array(words.dropFirst())).run()
    default: try Suite(words).run()
    }
} catch {
    say("Benchmarks: \(error)", to: 2)
    exit(1)
}
