// A program that pairs by `wakebridge pair --dialogue`, and one that does so through the daemon.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Pairing by a program", .serialized) struct PairingDialogueTests {
    private func strap(_ more: String) -> String {
        #"{"devices": [{"address": "C0:DE:00:00:00:10", "name": "Lab Strap", "uuids": ["180d"], \#(more)}]}"#
    }

    /// - Parameter answers: what the program says once it has seen the words.
    private func pair(
        _ bluetooth: ScriptedBluetooth, _ answers: [(after: String, line: String)], _ more: String...
    ) throws -> (exit: Int32, output: String, talk: String) {
        let program = try bluetooth.startDialogue(["pair", "--json", "--dialogue"] + more + ["Lab Strap"])
        for answer in answers {
            try #require(program.hears(answer.after), "\(program.child.output) \(program.child.talk)")
            program.say(answer.line)
        }
        return program.child.finish(within: 60)
    }

    @Test("a passkey is asked for by a line and answered by one; what was paired is the last line")
    func passkey() throws {
        let bluetooth = try ScriptedBluetooth(strap(#""pairing": "enter", "passkey": 42"#))
        let outcome = try pair(bluetooth, [(#"{"ask":"passkey"}"#, #"{"passkey":"000042"}"#)], "--alias", "chest")
        #expect(outcome.exit == 0, "\(outcome.talk)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first == #"{"step":"looking for Lab Strap"}"#)
        #expect(lines.last?.hasPrefix(#"{"paired":{"alias":"chest","address":"C0:DE:00:00:00:10""#) == true)
        #expect(lines.last?.contains(#""proof":"passkey""#) == true)
    }

    @Test("a comparison is told with its number, and a program that does not agree pairs nothing")
    func comparison() throws {
        let bluetooth = try ScriptedBluetooth(strap(#""pairing": "compare""#))
        let differs = try pair(bluetooth, [(#"{"compare":"123456"}"#, #"{"agrees":false}"#)])
        #expect(differs.exit == 1 && differs.talk.contains("the numbers differ"), "\(differs.talk)")
        let agrees = try pair(bluetooth, [(#"{"compare":"123456"}"#, #"{"agrees":true}"#)])
        #expect(agrees.exit == 0 && agrees.output.contains(#""proof":"comparison""#), "\(agrees.talk)")
    }

    @Test("a passkey that is to be typed on the device is shown once")
    func display() throws {
        let bluetooth = try ScriptedBluetooth(strap(#""pairing": "display""#))
        let outcome = try pair(bluetooth, [])
        #expect(outcome.exit == 0, "\(outcome.talk)")
        #expect(outcome.output.split(separator: "\n").count { $0 == #"{"show":"123456"}"# } == 1, "\(outcome.output)")
    }

    @Test("a program that goes away while it is asked leaves nothing paired")
    func goesAway() throws {
        let bluetooth = try ScriptedBluetooth(strap(#""pairing": "enter""#))
        let program = try bluetooth.startDialogue(["pair", "--json", "--dialogue", "Lab Strap"])
        #expect(program.hears(#"{"ask":"passkey"}"#))
        program.goAway()
        let outcome = program.child.finish(within: 60)
        #expect(outcome.exit == 1 && outcome.talk.contains("nothing was kept"), "\(outcome.talk)")
        #expect(bluetooth.calls.contains("CancelPairing"))
    }

    // MARK: Through the daemon

    @Test("the daemon finds neighbours, pairs one by questions and answers, and lets go when the client does")
    func daemon() throws {
        let bluetooth = try ScriptedBluetooth(strap(#""pairing": "enter", "passkey": 42"#))
        let daemon = try BluetoothDaemon(bluetooth)
        let near = try daemon.stream("/v1/neighbours")
        #expect(
            Patience.wait { near.output.contains(#"{"neighbour":{"address":"C0:DE:00:00:00:10","name":"Lab Strap""#) })
        kill(near.process, SIGKILL)
        let left = try daemon.stream("/v1/pairing", #"{"device":"Lab Strap"}"#)
        #expect(Patience.wait { left.output.contains(#"{"ask":"passkey"}"#) }, "\(left.output)")
        let second = try daemon.stream("/v1/pairing", #"{"device":"Lab Strap"}"#).finish(within: 30)
        #expect(second.output.contains(#""code":"conflict""#))
        kill(left.process, SIGKILL)
        #expect(Patience.wait { bluetooth.calls.contains("CancelPairing") })

        var id = 1
        var pairing = try daemon.stream("/v1/pairing", #"{"device":"Lab Strap","alias":"chest"}"#)
        // The one that was left may take a moment to end in order.
        while !Patience.wait(until: { pairing.output.contains(#"{"ask":"passkey"}"#) || pairing.isOver })
            || pairing.isOver
        {
            try #require(id < 50, "\(pairing.output)")
            id += 1
            pairing = try daemon.stream("/v1/pairing", #"{"device":"Lab Strap","alias":"chest"}"#)
        }
        let line = try #require(pairing.output.split(separator: "\n").first)
        let number = try #require(try JSONValue(parsing: Array(line.utf8))["pairing"]?.integer)
        let wrong = try daemon.stream("/v1/pairing/answer", #"{"pairing":99,"passkey":"000042"}"#).finish(within: 30)
        #expect(wrong.output.contains("unknown-pairing"))
        let right = try daemon.stream("/v1/pairing/answer", #"{"pairing":\#(number),"passkey":"000042"}"#)
        #expect(right.finish(within: 30).output == "{\"done\":true}\n")
        let outcome = pairing.finish(within: 60)
        #expect(outcome.output.contains(#"{"paired":{"alias":"chest""#), "\(outcome.output)")
    }

    @Test("the daemon gives a paired device another name in bluetoothd, and has it forgotten there")
    func nameAndForget() throws {
        let bluetooth = try ScriptedBluetooth(strap(#""bonded": true, "trusted": true, "alias": "chest""#))
        let daemon = try BluetoothDaemon(bluetooth)
        #expect(Patience.wait { daemon.ask("/v1/devices").contains(#""alias":"chest""#) })
        let taken = daemon.ask("/v1/devices/name", #"{"device":"chest","name":"Lab Strap"}"#)
        #expect(taken.contains(#""code":"conflict""#), "\(taken)")
        let named = daemon.ask("/v1/devices/name", #"{"device":"chest","name":"belt"}"#)
        #expect(named == "{\"alias\":\"belt\",\"source\":\"/bluetooth/C0:DE:00:00:00:10\"}\n")
        let path = "/org/bluez/hci0/dev_C0_DE_00_00_00_10"
        #expect(bluetooth.calls.contains("Set \(path) Alias belt"))
        #expect(Patience.wait { daemon.ask("/v1/devices").contains(#""alias":"belt""#) })
        let forgotten = daemon.ask("/v1/devices/forget", #"{"device":"belt"}"#)
        #expect(forgotten.contains(#""alias":"belt""#), "\(forgotten)")
        #expect(bluetooth.calls.contains("RemoveDevice \(path)"))
    }
}

/// A program that speaks with the tool in lines.
private struct Dialogue {
    let child: Child
    fileprivate let input: Int32

    func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(input, bytes, bytes.count)
    }

    func goAway() { close(input) }

    func hears(_ line: String) -> Bool {
        func hasCome() -> Bool { child.output.split(separator: "\n").contains(Substring(line)) }
        _ = Patience.wait { hasCome() || child.isOver }
        return hasCome()
    }
}

extension ScriptedBluetooth {
    fileprivate func startDialogue(_ words: [String]) throws -> Dialogue {
        let ends = try Pipe(ours: .write).releaseEnds()
        defer { close(ends.readEnd) }
        return Dialogue(child: try start(words, input: ends.readEnd), input: ends.writeEnd)
    }
}

/// A daemon beside that bluetoothd.
private final class BluetoothDaemon {
    private let folder: String
    private let child: Child
    private var socket: String { folder + "/run/control.sock" }

    init(_ bluetooth: ScriptedBluetooth) throws {
        let folder = makeDirectory("/tmp/wakewatch.XXXXXX")
        self.folder = folder
        child = try bluetooth.startDaemon([
            "--config", folder + "/config", "--state", folder + "/state", "--runtime", folder + "/run",
        ])
        try #require(Patience.wait { access(socket, F_OK) == 0 }, "\(child.talk)")
    }

    deinit {
        kill(child.process, SIGTERM)
        _ = child.finish(within: 20)
        Directory.removeTree(folder)
    }

    func stream(_ path: String, _ body: String? = nil) throws -> Child {
        let more = body.map { ["-d", $0] } ?? []
        return try Child(["curl", "-sSN", "--unix-socket", socket, "http://w" + path] + more)
    }

    func ask(_ path: String, _ body: String? = nil) -> String {
        (try? stream(path, body).finish(within: 60).output) ?? ""
    }
}
