// Pipes and programs for the tests: what goes in on stdin, what comes out on descriptor 3 and stdout.
import Glibc

@testable import WakeHandler

/// Runs a session over the given lines and gives back its replies. The lines must fit into a pipe.
@MainActor
func replies(
    of delegate: any BackgroundSessionDelegate, to lines: [String], session use: (BackgroundSession) -> Void = { _ in }
)
    -> [String]
{
    var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
    pipe(&input)
    pipe(&output)
    let text = Array((lines.joined(separator: "\n") + "\n").utf8)
    _ = text.withUnsafeBytes { write(input[1], $0.baseAddress, $0.count) }
    close(input[1])
    let session = BackgroundSession(delegate: delegate, input: input[0], replies: output[1])
    use(session)
    session.run()
    close(output[1])
    defer { for descriptor in [input[0], output[0]] { close(descriptor) } }
    return textLines(readAll(output[0]))
}

func readAll(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    while case .bytes(let more) = readInput(descriptor) { bytes += more }
    return bytes
}

func textLines(_ bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
}

struct ProgramOutput {
    var status: Int32
    var standardOutput: [String]
    var replies: [String]
}

/// Runs a program as a shell would, in a directory of its own. Nil for `replies` closes descriptor 3 in it.
func runProgram(_ words: [String], input lines: [String], in directory: String, hasReplies: Bool = true)
    -> ProgramOutput
{
    let (source, output, answers) = ("\(directory)/given", "\(directory)/printed", "\(directory)/replied")
    let file = open(source, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    _ = Array((lines.joined(separator: "\n") + "\n").utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    close(file)
    let third = hasReplies ? "3>'\(answers)'" : "3>&-"
    let command = "cd '\(directory)' && exec \"$@\" <'\(source)' >'\(output)' \(third)"
    let status = spawnAndWait(
        ["/bin/sh", "-c", command, "sh"] + words,
        ["WAKEBRIDGE_STATE_DIR=\(directory)", "PATH=/usr/bin:/bin"] + sanitizerVariables)
    return ProgramOutput(status: status, standardOutput: fileLines(output), replies: fileLines(answers))
}

/// What tells a program that was built for a sanitizer where to report, and Swift not to handle its crash before that.
private var sanitizerVariables: [String] {
    let names = ["ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "SWIFT_BACKTRACE"]
    return names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
}

func fileLines(_ path: String) -> [String] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    return textLines(readAll(file))
}

/// The wait status: 0 is a clean exit.
private func spawnAndWait(_ words: [String], _ variables: [String]) -> Int32 {
    var child: pid_t = 0
    var status: Int32 = -1
    var arguments = words.map { strdup($0) } + [nil]
    var environment = variables.map { strdup($0) } + [nil]
    defer { for text in arguments + environment { free(text) } }
    guard posix_spawn(&child, words[0], nil, nil, &arguments, &environment) == 0 else { return -1 }
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
}

func temporaryDirectory() -> String {
    var template = Array("/tmp/wake-handler-XXXXXX".utf8CString)
    return mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
}

/// Where the test's own program lies, and so the programs that were built beside it. A test bundle may be loaded by a
/// runner that lies elsewhere; the bundle's path is then among the arguments.
var builtPrograms: String {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
}

/// Works until it is cancelled.
func workWithoutEnd() async throws {
    let (nothing, end) = AsyncStream.makeStream(of: Never.self)
    for await _ in nothing {}
    withExtendedLifetime(end) {}
    throw CancellationError()
}
