// The example handlers and the fixture, run as programs: events on stdin, replies on descriptor 3.
import Glibc
import Testing

/// The package's folder, from where this file lies.
private let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(
    separator: "/")
private let session =
    [
        notice("restored", "{\"reason\":\"event\",\"devices\":[],\"checkpoint\":\"7 j1-1\"}"),
        event(2, type: "connected", data: "{}"),
    ]
    + (3...5).map { event($0) }
    + [
        notice("expiring", "{\"reason\":\"budget\",\"remaining_ms\":2000,\"tasks\":[],\"open\":[]}"),
        event(6, type: "disconnected", data: "{\"reason\":\"remote-user\"}"),
    ]

@Suite("Example handlers")
struct ExampleTests {
    private let directory = temporaryDirectory()

    @Test("the shell example counts beats and acknowledges every event")
    func runsShell() {
        let output = runProgram(
            ["/bin/sh", "\(package)/Examples/handlers/count-beats.sh"], input: session, in: directory)
        #expect(output.status == 0)
        #expect(output.replies == (2...6).map { "{\"ack\":\($0)}" })
        #expect(output.standardOutput == (1...3).map { "beat \($0): 73 bpm" })
    }

    @Test("the Python example writes each heart rate once, however often it comes, and summarises under a task")
    func runsPython() {
        let words = ["/usr/bin/python3", "\(package)/Examples/handlers/log-heart-rate.py"]
        let first = runProgram(words, input: session, in: directory)
        #expect(first.status == 0)
        #expect(first.replies.map { $0.contains("\"useful\"") } == [false, true, true, true, false])
        #expect(first.standardOutput == ["expiring: budget"])
        let again = runProgram(words, input: session + (7...63).map { event($0) }, in: directory)
        #expect(again.replies.suffix(3).first == "{\"begin\": \"summary\"}")
        #expect(again.replies.suffix(2) == ["{\"end\": \"summary\"}", "{\"ack\": 63, \"result\": \"useful\"}"])
        #expect(fileLines("\(directory)/heart-rate.log").count == 60)
        #expect(fileLines("\(directory)/summary.txt") == ["60 beats, mean 73.0 bpm"])
    }

    @Test("the Swift example goes on from its checkpoint")
    func runsSwift() {
        let output = runProgram(["\(builtPrograms)/ExampleHeartRate"], input: session, in: directory)
        #expect(output.status == 0)
        #expect(output.replies.filter { $0.contains("ack") } == (2...6).map { "{\"ack\":\($0),\"result\":\"useful\"}" })
        #expect(output.replies.filter { $0.contains("checkpoint") }.last == "{\"checkpoint\":\"10 j1-5\"}")
        #expect(output.standardOutput.last == "strap is gone: remote-user")
    }

    @Test("the Swift library runs with descriptor 3 closed, and with no reader of it")
    func runsWithoutBridge() {
        let program = "\(builtPrograms)/ExampleHeartRate"
        let closed = runProgram([program], input: session, in: directory, hasReplies: false)
        #expect(closed.status == 0)
        #expect(closed.standardOutput.count == 5)
        let full = runProgram(["/bin/sh", "-c", "exec '\(program)' 3>/dev/full"], input: session, in: directory)
        #expect(full.status == 0)
        #expect(full.standardOutput.count == 5)
    }

    @Test("every example has its manifest")
    func hasManifests() {
        for name in ["count-beats", "log-heart-rate", "heart-rate-logger"] {
            #expect(access("\(package)/Examples/handlers/\(name).json5", R_OK) == 0)
        }
    }
}

@Suite("The fixture handler")
struct FixtureTests {
    private let directory = temporaryDirectory()

    private func run(_ arguments: String...) -> ProgramOutput {
        runProgram(["\(builtPrograms)/FixtureHandler"] + arguments, input: session, in: directory)
    }

    @Test("the fixture acknowledges and logs every event")
    func acknowledges() {
        let output = run(
            "--log", "\(directory)/log", "--notices", "\(directory)/notices", "--exit", "3", "--checkpoint")
        #expect(output.status == 3 << 8)
        #expect(output.replies.filter { $0.contains("ack") } == (2...6).map { "{\"ack\":\($0)}" })
        let fields = fileLines("\(directory)/log").map { $0.split(separator: " ") }
        #expect(fields.map { $0[0] } == ["2", "3", "4", "5", "6"])
        #expect(fields.first?[1..<5] == ["1", "false", "strap", "wakebridge.device.connected"])
        #expect(fields.allSatisfy { $0.count == 7 })
        #expect(fileLines("\(directory)/notices").count == 2)
    }

    @Test("the fixture misbehaves as it is told")
    func misbehaves() {
        #expect(run("--never-ack").replies.isEmpty)
        #expect(run("--nack", "4", "--after", "0.5").replies.contains("{\"nack\":4,\"after_s\":0.5}"))
        #expect(run("--flood", "100").replies.count == 105)
        #expect(run("--garbage").replies.contains("garbage"))
        #expect(run("--close-replies").replies.isEmpty)
        #expect(run("--spam-stdout", "1000").standardOutput.map(\.count) == [1000, 1000, 1000, 1000, 1000])
        #expect(
            run("--task", "up", "--work", "1").replies.prefix(3) == [
                "{\"begin\":\"up\"}", "{\"end\":\"up\"}", "{\"ack\":2}",
            ])
        #expect(!run("--task", "up", "--work", "1", "--never-end").replies.contains("{\"end\":\"up\"}"))
        let crashed = run("--crash-at", "3", "--log", "\(directory)/crash")
        #expect(crashed.status & 0x7f == SIGABRT)
        #expect(fileLines("\(directory)/crash").count == 2)
        #expect(run("--exit-after", "2").replies.count == 2)
    }
}
