// The example handlers and the fixture, run as programs: events on stdin, replies on descriptor 3.
import Glibc
import Testing

/// The package's folder, from where this file lies.
private let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(
    separator: "/")
private let session =
    [
        notice(
            "restored",
            "{\"reason\":\"event\",\"devices\":[],\"checkpoint\":\"{\\\"beats\\\":7,\\\"lastID\\\":\\\"j1-1\\\"}\"}"),
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
        #expect(
            output.replies.filter { $0.contains("checkpoint") }.last
                == "{\"checkpoint\":\"{\\\"beats\\\":10,\\\"lastID\\\":\\\"j1-5\\\"}\"}")
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
        let names = [
            "count-beats", "log-heart-rate", "heart-rate-logger", "nightly-backup", "take-pills", "stretch",
            "watch-feed", "read-messages", "letter-reader",
            "check-mail", "tidy-up", "fingerprint", "record-ecg", "fetch-podcasts", "send-photos", "map-updater",
            "answer-door", "hold-line", "lap-counter", "count-while-worn", "strap-diary",
        ]
        for name in names {
            #expect(access("\(package)/Examples/handlers/\(name).json5", R_OK) == 0)
        }
    }
}

@Suite("Examples of alarms, polls and jobs")
struct OccasionExampleTests {
    private let directory = temporaryDirectory()
    private let restored = notice("restored", "{\"reason\":\"job\",\"devices\":[]}")

    /// Runs an example with variables of its own. What Python compiles would lie in the checkout otherwise.
    private func run(_ name: String, _ variables: [String] = [], _ lines: [String]) -> ProgramOutput {
        let module = ["PYTHONPATH=\(package)/Packages/python", "PYTHONDONTWRITEBYTECODE=1"]
        let interpreter = name.hasSuffix(".py") ? "/usr/bin/python3" : "/bin/sh"
        return runProgram(
            ["/usr/bin/env"] + module + variables + [interpreter, "\(package)/Examples/handlers/\(name)"],
            input: [restored] + lines, in: directory)
    }

    private func put(_ text: String, at name: String) {
        let file = open("\(directory)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o755)
        _ = Array(text.utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
    }

    @Test("the alarm in shell says how many pills, and acknowledges")
    func pills() {
        let output = run("take-pills.sh", [], [alarm(1), event(2)])
        #expect(output.standardOutput == ["take 2"] && output.replies == ["{\"ack\":1,\"result\":\"useful\"}"])
    }

    @Test("the alarm in Python is set where it is not pending, and says what it carries")
    func stretches() {
        let fired = occasion(3, "alarm.fired", of: "stretch", "{\"id\":\"stretch\",\"data\":{\"say\":\"up\"}}")
        let none = notice("reply", "{\"pending\":[],\"ref\":1}")
        let unset = run("stretch.py", [], [none]).replies
        #expect(unset.count == 2 && unset[1].contains("\"every_s\":3600"))
        let pending = notice("reply", "{\"pending\":[{\"id\":\"stretch\"}],\"ref\":1}")
        let kept = run("stretch.py", [], [pending, fired])
        #expect(
            kept.replies == [
                "{\"pending\":true,\"ref\":1}", "{\"ready\":true}", "{\"ack\":3,\"result\":\"useful\"}",
            ])
        #expect(kept.status == 0 && kept.standardOutput == ["up"])
    }

    @Test("the flow in Python records what comes between its beginning and its end, and leaves its beginning open")
    func records() {
        let beat = event(3, data: "{\"profile\":\"heart-rate-monitor\",\"value\":{\"bpm\":72}}")
        let lines = [
            occasion(2, "flow.started", of: "ecg", "{\"name\":\"ecg\",\"from\":\"device:strap\"}"), beat,
            occasion(4, "flow.ended", of: "ecg", "{\"name\":\"ecg\",\"reason\":\"idle\"}"),
        ]
        let output = run("record-ecg.py", ["WAKEBRIDGE_STATE_DIR=."], lines)
        #expect(output.standardOutput == ["the recording is whole: idle"])
        #expect(output.replies == [3, 4].map { "{\"ack\":\($0),\"result\":\"useful\"}" })
        #expect(access("\(directory)/20261121T074246Z.jsonl", R_OK) == 0)
    }

    private let worn = [
        occasion(2, "flow.started", of: "worn", "{\"name\":\"worn\",\"from\":\"device:strap\"}"), event(3), event(4),
        occasion(5, "flow.ended", of: "worn", "{\"name\":\"worn\",\"reason\":\"idle\"}"),
    ]

    @Test("the flow in shell counts the beats from its beginning, which it leaves open, to its end")
    func counts() {
        let output = run("count-while-worn.sh", [], worn)
        #expect(output.standardOutput == ["worn for 2 beats"])
        #expect(output.replies == (3...5).map { "{\"ack\":\($0)}" })
    }

    @Test("the flow in Swift says how fast the heart beat from its beginning, which it leaves open, to its end")
    func diary() {
        let output = runProgram(["\(builtPrograms)/ExampleStrapDiary"], input: [restored] + worn, in: directory)
        #expect(output.status == 0 && output.standardOutput == ["2 beats, 73 bpm on average"])
        let answers = output.replies.filter { $0.contains("ack") }
        #expect(answers == (3...5).map { "{\"ack\":\($0),\"result\":\"useful\"}" })
    }

    @Test("the socket in shell prints each datagram that waits, past an empty one too, and acknowledges")
    func door() {
        // As the bridge has it: descriptor 4, whose reads wait for nothing.
        let holder = """
            import os, socket, sys
            door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            door.bind(("127.0.0.1", 0))
            door.setblocking(False)
            for word in (b"ding\\n", b"", b"dong\\n"):
                door.sendto(word, door.getsockname())
            os.dup2(door.fileno(), 4)
            os.set_inheritable(4, True)
            os.execv("/bin/sh", ["sh", sys.argv[1]])
            """
        let readable = occasion(1, "socket.readable", of: "door", "{\"socket\":\"door\",\"fd\":4,\"bytes\":5}")
        let output = runProgram(
            ["/usr/bin/python3", "-c", holder, "\(package)/Examples/handlers/answer-door.sh"],
            input: [restored, readable], in: directory)
        #expect(output.standardOutput == ["ding", "dong"] && output.replies == ["{\"ack\":1}"])
    }

    private func finished(_ sequence: Int, _ id: String, _ end: String, of session: String, path: String) -> String {
        occasion(
            sequence, "transfer.finished", of: "\(session)/\(id)",
            "{\"session\":\"\(session)\",\"id\":\"\(id)\",\"method\":\"GET\",\(end),\"path\":\"\(path)\"}")
    }

    private func settled(_ sequence: Int, _ session: String, _ count: Int, failed: Int) -> String {
        occasion(
            sequence, "transfer.settled", of: session,
            "{\"session\":\"\(session)\",\"finished\":\(count),\"failed\":\(failed)}")
    }

    @Test("the transfers in shell are ordered before it is ready, and each end is told")
    func podcasts() {
        put("a.mp3 https://example.org/a.mp3\nb.mp3 https://example.org/b.mp3\n", at: "list")
        let ends = [
            finished(1, "a.mp3", "\"ok\":true", of: "podcasts", path: "a.mp3"),
            finished(2, "b.mp3", "\"ok\":false,\"why\":\"status\"", of: "podcasts", path: "b.mp3"),
            settled(3, "podcasts", 1, failed: 1),
        ]
        let output = run("fetch-podcasts.sh", ["EPISODES=list"], ends)
        #expect(output.standardOutput == ["a.mp3 is here", "an episode failed: status", "all of them have ended"])
        #expect(
            output.replies.prefix(3) == [
                "{\"transfer\":{\"session\":\"podcasts\",\"id\":\"a.mp3\",\"url\":\"https://example.org/a.mp3\",\"to\":\"a.mp3\"}}",
                "{\"transfer\":{\"session\":\"podcasts\",\"id\":\"b.mp3\",\"url\":\"https://example.org/b.mp3\",\"to\":\"b.mp3\"}}",
                "{\"ready\":true}",
            ])
        #expect(output.replies.suffix(3) == (1...3).map { "{\"ack\":\($0)}" })
    }

    @Test("the transfers in Python send what lies there, and remove what the server has")
    func photos() {
        mkdir("\(directory)/out", 0o700)
        for name in ["1.jpg", "2.jpg"] { put("x", at: "out/\(name)") }
        let answers = (1...2).map { notice("reply", "{\"transfer\":\"ordered\",\"pending\":[],\"ref\":\($0)}") }
        let ends = [
            finished(1, "1.jpg", "\"ok\":true", of: "photos", path: "out/1.jpg"),
            finished(2, "2.jpg", "\"ok\":false,\"why\":\"status\"", of: "photos", path: "out/2.jpg"),
            settled(3, "photos", 1, failed: 1),
        ]
        let module = ["PYTHONPATH=\(package)/Packages/python", "PYTHONDONTWRITEBYTECODE=1"]
        let program = "\(package)/Examples/handlers/send-photos.py"
        // The daemon answers what was asked, and not before.
        let patience = """
            { head -n 1 given; for n in 1 2; do until grep -q '"ref":'$n replied; do sleep 0.05; done
            sed -n $((n + 1))p given; done; tail -n +4 given; } | "$@"
            """
        let words = ["/usr/bin/env", "WAKEBRIDGE_STATE_DIR=."] + module + ["/usr/bin/python3", program, "http://h"]
        let output = runProgram(
            ["/usr/bin/timeout", "120", "/bin/sh", "-c", patience, "sh"] + words, input: [restored] + answers + ends,
            in: directory)
        #expect(output.standardOutput == ["2.jpg stays here: status", "1 sent, 1 not"])
        #expect(output.replies.count { $0.contains("\"method\"") || $0.contains("\"from\"") } == 2)
        #expect(output.replies.last == "{\"ack\":3,\"result\":\"useful\"}" && output.status == 0)
        #expect(access("\(directory)/out/1.jpg", F_OK) != 0 && access("\(directory)/out/2.jpg", F_OK) == 0)
    }

    @Test("the transfers in Swift are ordered by a job, and their session's end is told last")
    func maps() {
        let answer = notice("reply", "{\"transfer\":\"ordered\",\"pending\":[],\"ref\":1}")
        let ends = [
            finished(2, "berlin.map", "\"ok\":true", of: "maps", path: "berlin.map"),
            settled(3, "maps", 1, failed: 0),
        ]
        // The daemon answers what was asked, and not before.
        let patience = """
            { head -n 2 given; until grep -q '"ref":1' replied; do sleep 0.05; done; tail -n +3 given; } | "$@"
            """
        let output = runProgram(
            ["/bin/sh", "-c", patience, "sh", "\(builtPrograms)/ExampleMapUpdater", "https://example.org/berlin.map"],
            input: [restored, job(1, "look", kind: "refresh"), answer] + ends, in: directory)
        #expect(output.standardOutput == ["berlin.map lies at berlin.map", "1 maps are new, 0 are not"])
        #expect(output.replies.contains { $0.contains("https://example.org/berlin.map") && $0.contains("\"maps\"") })
        #expect(output.replies.contains { $0.contains("\"ack\":3") } && output.status == 0)
    }

    @Test("the poll in shell tells news from none, and from a feed that cannot be had")
    func feeds() {
        // In place of curl: `-fsS -o new FEED`.
        put("#!/bin/sh\ncp \"$4\" \"$3\" 2>/dev/null\n", at: "curl")
        put("one", at: "source")
        let words = ["PATH=\(directory):/usr/bin:/bin", "FEED=source"]
        #expect(
            run("watch-feed.sh", words, [poll(1), poll(2)]).replies
                == ["useful", "nothing"].enumerated().map {
                    "{\"ack\":\($0.offset + 1),\"result\":\"\($0.element)\"}"
                })
        let missing = run("watch-feed.sh", [words[0], "FEED=nothing"], [poll(3)])
        #expect(missing.replies == ["{\"ack\":3,\"result\":\"failed\"}"])
    }

    @Test("the poll in Python counts new messages, and says where it cannot")
    func mails() {
        mkdir("\(directory)/new", 0o700)
        for name in ["a", "b"] { put("", at: "new/\(name)") }
        let output = run("check-mail.py", ["MAILDIR=."], [poll(1), poll(2)])
        #expect(output.standardOutput == ["2 new"])
        #expect(output.replies.map { $0.contains("useful") } == [true, false])
        #expect(run("check-mail.py", ["MAILDIR=/nowhere"], [poll(3)]).replies.first?.contains("failed") == true)
    }

    @Test("the example with an instance for each strap counts its own laps over restarts")
    func laps() {
        let connected = event(1, type: "connected", data: "{}")
        let lines = [connected, event(2), event(3, type: "connected")]
        let first = run("lap-counter.py", ["WAKEBRIDGE_STATE_DIR=."], lines)
        #expect(first.standardOutput == ["strap: lap 1", "strap: lap 2"])
        #expect(first.replies == ["{\"ack\":1}", "{\"ack\":2}", "{\"ack\":3}"])
        #expect(run("lap-counter.py", ["WAKEBRIDGE_STATE_DIR=."], [connected]).standardOutput == ["strap: lap 3"])
    }

    @Test("the job in shell packs logs, and tells each as progress")
    func tidies() {
        for name in ["a", "b"] { put("x", at: "\(name).log") }
        let output = run("tidy-up.sh", ["FOLDER=."], [job(5, "tidy-up"), job(6, "tidy-up")])
        #expect(
            output.replies == [
                "{\"progress\":5,\"done\":1}", "{\"progress\":5,\"done\":2}", "{\"ack\":5}", "{\"ack\":6}",
            ])
        #expect(output.standardOutput == ["packed 2", "packed 0"] && access("\(directory)/b.log.gz", R_OK) == 0)
    }

    @Test("the job in Python writes fingerprints, and waits for a folder that is not there")
    func fingerprints() {
        mkdir("\(directory)/files", 0o700)
        put("abc", at: "files/one")
        let output = run("fingerprint.py", ["FOLDER=files"], [job(5)])
        #expect(output.replies.count == 2 && output.replies[0] == "{\"progress\":5,\"done\":1,\"total\":1}")
        #expect(output.replies[1] == "{\"ack\":5,\"result\":\"useful\"}")
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  one"
        #expect(fileLines("\(directory)/fingerprints.txt") == [known])
        let missing = run("fingerprint.py", ["FOLDER=/mnt/none"], [job(6)])
        #expect(missing.replies == ["{\"nack\":6,\"until\":[\"mount:/mnt/none\"]}"])
    }

    @Test("the job in Swift copies folder after folder, tells each as progress, and fails where one is not there")
    func backsUp() {
        for name in ["photos", "mail", "disk"] { mkdir("\(directory)/\(name)", 0o700) }
        put("abc", at: "photos/one")
        let program = "\(builtPrograms)/ExampleNightlyBackup"
        let output = runProgram(
            [program, "photos", "mail", "disk"], input: [restored, job(5, "nightly-backup")], in: directory)
        #expect(output.status == 0)
        #expect(
            output.replies == [
                "{\"register\":\"nightly-backup\"}", "{\"progress\":5,\"done\":1,\"total\":2}",
                "{\"progress\":5,\"done\":2,\"total\":2}", "{\"ack\":5,\"result\":\"useful\"}",
            ])
        #expect(output.standardOutput == ["2 folders are in disk"])
        #expect(fileLines("\(directory)/disk/photos/one") == ["abc"])
        let missing = runProgram(
            [program, "nowhere", "disk"], input: [restored, job(6, "nightly-backup")], in: directory)
        #expect(missing.replies.last == "{\"ack\":6,\"result\":\"failed\"}")
    }
}

@Suite("Examples of messages")
struct MessageExampleTests {
    private let directory = temporaryDirectory()
    private let session = [
        notice("restored", "{\"reason\":\"message\",\"devices\":[]}"),
        occasion(
            1, "message.received", of: "inbox",
            "{\"id\":\"1\",\"topic\":\"sky\",\"payload\":\"rain\",\"received\":\"2026-06-01T00:00:00.000000Z\"}"),
        occasion(2, "message.received", of: "inbox", "{\"id\":\"2\",\"raw\":\"ff00\"}"),
        occasion(3, "device.gap", of: "inbox", "{\"device\":\"inbox\",\"count\":7,\"from\":\"\"}"),
    ]

    @Test("the inbox in shell says each text, counts what was lost, and acknowledges all")
    func shell() {
        let output = runProgram(
            ["/bin/sh", "\(package)/Examples/handlers/read-messages.sh"], input: session, in: directory)
        #expect(output.replies == (1...3).map { "{\"ack\":\($0)}" })
        #expect(output.standardOutput.first == "message: rain" && output.standardOutput.last == "7 messages were lost")
    }

    @Test("the inbox in Python says text and bytes, counts what was lost, and acknowledges all")
    func python() {
        let module = ["PYTHONPATH=\(package)/Packages/python", "PYTHONDONTWRITEBYTECODE=1"]
        let words = ["/usr/bin/python3", "\(package)/Examples/handlers/read-messages.py"]
        let output = runProgram(["/usr/bin/env"] + module + words, input: session, in: directory)
        #expect(output.standardOutput == ["sky: rain", "message: ff00", "7 messages were lost"])
        #expect(output.replies.filter { $0.contains("ack") }.count == 3)
    }

    @Test("the inbox in Swift keeps the newest message of each topic, and says where there was nothing for it")
    func swift() {
        let output = runProgram(["\(builtPrograms)/ExampleLetterReader"], input: session, in: directory)
        #expect(output.status == 0 && output.standardOutput == ["sky: rain"])
        #expect(fileLines("\(directory)/sky") == ["rain"])
        let answers = output.replies.filter { $0.contains("ack") }
        #expect(answers.prefix(2) == ["{\"ack\":1,\"result\":\"useful\"}", "{\"ack\":2,\"result\":\"nothing\"}"])
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
