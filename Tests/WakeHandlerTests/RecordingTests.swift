// Recordings played into a handler's session: the lines are the daemon's, and every answer is seen.
import TestBench
import Testing
import WakeEngine
import WakeHandler
import WakeHandlerTesting
import WakeModel
import WakeProfiles
import WakeTrace

/// Answers as the test says.
private final class Scripted: PeripheralDelegate, AccessoryDelegate {
    var answer: (BackgroundEvent, BackgroundSession) -> WorkResult = { _, _ in .useful }
    func peripheral(
        _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult { answer(event, session) }
    func accessory(
        _ accessory: Accessory, didSend data: AccessoryData, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { answer(event, session) }
}

@Suite("Recordings in a handler's tests")
@MainActor
struct RecordingTests {
    private let delegate = Scripted()
    private static let devices = "\(packageFolder)/Devices"
    private static let head = """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
        device 2 accessory 2341:0043:7583 alias="sensor"

        """

    private func strap() throws -> Recording {
        try Recording(trace: "\(Self.devices)/heart-rate-monitor/recording.trace", devices: Self.devices)
    }
    private func written(_ operations: String...) throws -> Recording {
        try Recording(text: Self.head + operations.joined(separator: "\n") + "\nend\n")
    }

    @Test(
        "a handler under test gets the lines that the daemon's own replay prints, byte for byte",
        arguments: ["gps-receiver", "heart-rate-monitor"])
    func sameLines(device: String) throws {
        let folder = "\(Self.devices)/\(device)"
        let recording = try Recording(trace: "\(folder)/recording.trace", devices: Self.devices)
        let answers = recording.play(to: delegate)
        #expect(Array(answers.deliveredLines.dropFirst()) == lines(of: "\(folder)/expected.ndjson"))
        #expect(answers.unanswered == [])
    }

    @Test("gaps, attentions, pieces of lines, folded connects and unknown data have the daemon's lines too")
    func sameOddLines() throws {
        let text =
            Self.head + """
                +0.5 1 connect folded=3
                +0 2 connect
                +1 1 data 2a37 1049
                +1 2 data serial-cut-short 2447
                +1 1 attention access-denied "It is refused."
                +1 1 gap link count=3 for=1.5
                +1 1 disconnect reason=0x2a
                end

                """
        var printed: [String] = []
        let replay = try VirtualReplay(TraceReader(bytes: Array(text.utf8)), profiles: ProfileLibrary())
        _ = try replay.play { printed += textLines($0) }
        let answers = try Recording(text: text).play(to: delegate)
        #expect(Array(answers.deliveredLines.dropFirst()) == printed)
        #expect(printed.count == 7)
    }

    @Test(
        "a sleep and a clock that was set move the times of what follows as in the daemon's replay, and are no events")
    func sameTimes() throws {
        let text =
            Self.head + """
                +1 1 connect
                +1 machine sleep 28800.5
                +1 1 data 2a37 1049
                +1 machine clock -7200
                +1 1 data 2a37 1050
                +0 machine synchronized on
                +0 1 gap link for=1.5
                end

                """
        var printed: [String] = []
        let replay = try VirtualReplay(TraceReader(bytes: Array(text.utf8)), profiles: ProfileLibrary())
        _ = try replay.play { printed += textLines($0) }
        let answers = try Recording(text: text).play(to: delegate)
        #expect(Array(answers.deliveredLines.dropFirst()) == printed.filter { $0.contains("wakebridge.device.") })
        #expect(answers.deliveredLines.count == 5 && answers.unanswered == [])
    }

    @Test("a retry's time runs on while the machine sleeps in the recording")
    func retriesInSleep() throws {
        delegate.answer = { event, _ in
            event.sequence == 1 && event.attempt == 1 ? .retry(after: .seconds(600)) : .useful
        }
        let answers = try written("+0 1 data 2a37 01", "+1 machine sleep 3600", "+1 2 data serial 03").play(
            to: delegate)
        #expect(answers.acknowledgements.map(\.sequence) == [1, 2])
    }

    @Test("the first line tells the handler why it runs, what it watches and its checkpoint")
    func restores() async throws {
        var recording = try strap()
        recording.checkpoint = "at 7"
        var restoration: WakeHandler.Restoration?
        let answers = try await recording.play { session in
            for await event in session.events {
                restoration = session.restoration
                session.finish(event, .useful)
            }
        }
        #expect(restoration?.checkpointText == "at 7" && restoration?.peripherals.map(\.name) == ["chest-strap"])
        #expect(answers.acknowledgements.count == 96)
    }

    @Test("a retry comes again after its time in the recording, in order, and what follows of the device waits for it")
    func retries() throws {
        delegate.answer = { event, _ in
            event.sequence == 2 && event.attempt == 1 ? .retry(after: .milliseconds(1500)) : .useful
        }
        let answers = try written(
            "+0 1 connect", "+1 1 data 2a37 01", "+1 1 data 2a37 02", "+0 2 data serial 03", "+1 1 data 2a37 04"
        ).play(to: delegate)
        #expect(answers.retries == [.init(sequence: 2, after: .milliseconds(1500))])
        #expect(answers.acknowledgements.map(\.sequence) == [1, 4, 2, 3, 5])
        #expect(answers.unanswered == [] && answers.refusals == [])
    }

    @Test("an event that is always refused comes no more in the end, and nothing of its device overtakes it")
    func givesUp() throws {
        delegate.answer = { event, _ in event.sequence == 1 ? .retry(after: nil) : .useful }
        let answers = try written("+0 1 data 2a37 01", "+1 1 data 2a37 02", "+1 2 data serial 03").play(to: delegate)
        #expect(answers.retries.count == 5 && answers.unanswered == [1, 2])
        #expect(answers.acknowledgements.map(\.sequence) == [3])
    }

    @Test("checkpoints, log lines, tasks left open and events left open are given back")
    func gives() throws {
        delegate.answer = { event, session in
            session.checkpoint(text: "at \(event.sequence)")
            session.log("saw \(event.sequence)")
            _ = session.beginBackgroundTask(named: "up")
            return event.sequence == 2 ? .pending : .useful
        }
        let answers = try written("+0 1 data 2a37 01", "+1 1 data 2a37 02").play(to: delegate)
        #expect(answers.checkpoints == ["at 1", "at 2"] && answers.log == ["saw 1", "saw 2"])
        #expect(answers.openTasks == ["up", "up#2"] && answers.unanswered == [2])
    }

    @Test("writes and reads are refused as in a replay, or answered as the test says")
    func requests() async throws {
        var recording = try written("+0 1 data 2a37 01")
        @Sendable @MainActor func handler(_ session: BackgroundSession) async throws {
            for await event in session.events {
                guard case .peripheral(let strap, _) = event.kind else { continue }
                try await session.write([1], to: strap, characteristic: 0x2a39)
                session.log("\(try await session.read(from: strap, characteristic: 0x2a38))")
                session.finish(event, .useful)
            }
        }
        await #expect(throws: BridgeError.self) { try await recording.play(handler) }
        recording.requestAnswers = .answered(values: ["2a38": [7]])
        let answers = try await recording.play(handler)
        #expect(answers.writes == [.init(device: "strap", channel: "2a39", bytes: [1])])
        #expect(answers.reads.map(\.device) == ["strap"] && answers.log == ["[7]"])
    }

    @Test("a handler is told that its time ends where the test says so")
    func expires() async throws {
        var recording = try strap()
        recording.expiresAfter = 10
        let answers = try await recording.play { session in
            Task {
                for await case .expiring(_, let reason) in session.notices { session.log("expired: \(reason)") }
            }
            for await event in session.events { session.finish(event, .useful) }
        }
        #expect(answers.log == ["expired: budget"])
    }

    @Test("a trace or a profile that cannot be used is told with its file and line")
    func faults() throws {
        let missing = thrown(Recording.Fault.self) { try Recording(trace: "/nowhere/x.trace", devices: "/x") }
        #expect(missing?.description.contains("The file /nowhere/x.trace cannot be read: No such file") == true)
        let broken = thrown(Recording.Fault.self) { try written("+0 1 dance") }
        #expect(broken?.description.contains("line 5, column 6") == true)
    }
}
