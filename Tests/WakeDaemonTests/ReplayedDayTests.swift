// A day that is recorded while it happens, and what comes of it when it is replayed.
import TestBench
import Testing
import WakeAgenda
import WakeCore
import WakeModel
import WakeProfiles
import WakeTrace

@testable import WakeEngine

/// A strap's beats, a backup that wants power, a poll, and alarms of two handlers, one of which orders its own.
private let day = """
    wakebridge-trace 1
    clock 2026-03-28T06:00:00.000000Z zone=Europe/Berlin seed=11
    device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
    +0.000000 handler coach manifest {"modes":["bluetooth-central"],"watch":[{"profile":"heart-rate"}],"alarms":[{"id":"walk","daily":["09:00","17:30"]}]}
    +0.000000 handler keeper manifest {"autostart":true,"jobs":[{"id":"backup","kind":"processing","every":"2h","require":["power"]}],"poll":{"min_interval":"30m"},"alarms":[],"transfers":[{"session":"photos"}]}
    +0.000000 1 connect
    +1.000000 1 data 2a37 0048
    +0.812500 1 data 2a37 0049
    +3600.000000 handler keeper say {"alarm":{"id":"tea","in_s":900},"ref":1}
    +5.000000 handler keeper say {"alarm":{"id":"brew","daily":["02:30"],"zone":"Europe/Berlin"}}
    +1.000000 handler keeper say {"transfer":{"session":"photos","id":"17","url":"http://example.org/17","to":"17"}}
    +0.000000 handler keeper say {"transfer":{"session":"photos","id":"18","url":"http://example.org/18","to":"18"}}
    +1200.000000 handler keeper transfer photos/17 done 511002
    +300.000000 handler keeper transfer photos/18 failed checksum
    +2124.000000 machine condition power off
    +2000.250000 1 data 2a37 004a
    +100.000000 handler coach attach
    +10.000000 handler coach detach
    +3000.000000 machine condition power on
    +5.000000 machine clock +3600.000000
    +5.000000 1 disconnect reason=timeout
    +1000.000000 machine sleep 28800.000000
    +10.000000 machine condition network off
    +5000.000000 machine zone Europe/London
    +5.000000 handler keeper say {"submit":{"job":"backup","not_before_s":60}}
    +10.000000 handler coach stop
    +7200.000000 machine condition network on
    +0.000000 handler coach start
    +20000.000000 1 connect
    +1.000000 1 data 2a37 0050
    end

    """

private let profiles = ProfileLibrary.heartRate

@Suite("A recorded day")
struct ReplayedDayTests {
    @Test(
        "a day of alarms, a job that loses its power, a poll and a strap's beats is decided twice in the same way, byte for byte"
    )
    func repeats() throws {
        let (one, other) = (try played(day), try played(day))
        #expect(one.decisions == other.decisions && one.lines == other.lines && one.outcome == other.outcome)
        for words in [
            "alarm walk raised", "alarm tea raised", "alarm brew raised", "job backup raise", "job backup lost power",
            "withdraw", "poll raise", "transfer photos/17 start", "transfer photos/17 done",
            "transfer photos/18 failed checksum", "transfer photos raise transfer.settled",
        ] { #expect(one.decisions.contains(words), "\(words) is not in\n\(one.decisions)") }
        #expect(one.times(of: "device.data").count == 4)
        #expect(!one.decisions.contains("fault"), "\(one.decisions)")
    }

    @Test("what is recorded of a day is a trace by itself, and its replay decides as the day did, byte for byte")
    func recordsItself() throws {
        let (recorded, decisions) = try recorded(day)
        #expect(recorded.contains("machine condition power off") && recorded.contains("machine sleep 28800.000000"))
        #expect(recorded.contains("handler keeper transfer photos/17 done 511002"))
        #expect(recorded.contains("machine clock +3600.000000") && recorded.contains("handler coach stop"))
        #expect(try played(recorded).decisions == decisions, "\(recorded)")
        let again = try self.recorded(recorded).trace
        #expect(again == recorded, "\(again.split(separator: "\n").difference(from: recorded.split(separator: "\n")))")
    }

    @Test("of a credential a recording says that it was given, and holds neither of its words")
    func credentials() throws {
        let (trace, decisions) = try recorded(
            transfers(
                "+1200.000000 handler keeper transfer photos/17 challenged",
                #"+5.000000 handler keeper say {"credential":{"transfer":"photos/17","user":"me","password":"hidden"}}"#,
                "+7200.000000 handler keeper transfer photos/17 done 5"))
        #expect(trace.contains(#"say {"credential":{"transfer":"photos/17","user":"","password":""}}"#), "\(trace)")
        #expect(!trace.contains("hidden") && !trace.contains("\"me\""))
        #expect(decisions.contains("transfer photos/17 done"))
        #expect(try played(trace).decisions == decisions)
    }

    @Test("a transfer that an operator cancels ends in the replay too")
    func cancelled() throws {
        let text = transfers("+1200.000000 machine condition power on")
        let replay = try VirtualReplay(TraceReader(bytes: Array(text.utf8)), profiles: profiles)
        let (witness, operatorAtWork) = (Witness(of: replay), Canceller(replay.turn))
        replay.turn.listeners.register(operatorAtWork)
        _ = try replay.play { _ in }
        #expect(operatorAtWork.count == 1)
        #expect(witness.trace.contains("handler keeper transfer photos/17 failed cancelled"), "\(witness.trace)")
        let decisions = try played(witness.trace).decisions
        #expect(decisions.contains("transfer photos/17 failed cancelled"), "\(decisions)")
        #expect(decisions.contains("raise transfer.settled"), "\(decisions)")
    }

    @Test("a manifest with an instance for each device is stopped, started and taken away in the replay as in the day")
    func instances() throws {
        let text = """
            wakebridge-trace 1
            clock 2026-03-28T06:00:00.000000Z zone=Europe/Berlin seed=11
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +0.000000 handler hr manifest {"instance":"device","modes":["bluetooth-central"],"watch":[{"profile":"heart-rate"}]}
            +0.000000 1 connect
            +1.000000 1 data 2a37 0048
            +5.000000 handler hr stop
            +0.000000 handler hr@strap stop
            +5.000000 1 data 2a37 0049
            +5.000000 handler hr start
            +0.000000 handler hr@strap start
            +5.000000 1 data 2a37 004a
            +5.000000 handler hr remove
            +5.000000 1 data 2a37 004b
            end

            """
        let (trace, decisions) = try recorded(text)
        #expect(trace.contains("handler hr stop") && trace.contains("handler hr start"), "\(trace)")
        #expect(trace.contains("handler hr remove") && !trace.contains("handler hr@strap remove"), "\(trace)")
        #expect(try played(trace).decisions == decisions)
    }

    @Test("a recording holds what decides when a handler is woken, and nothing that only its program is given")
    func keepsSecrets() throws {
        let text = """
            {
              // The key of the weather service.
              exec: ["./weather", "--key", "hunter2"], user: "auto", env: { TOKEN: "hunter3" },
              poll: { min_interval: "15m" },
            }
            """
        let manifest = try HandlerManifest(id: "w", file: "w.json5", text: Array(text.utf8), isRoot: true)
        #expect(manifest.tracedText == #"{"poll":{"min_interval":"15m"}}"#)
    }

    /// A handler that has ordered one transfer, and what happens then.
    private func transfers(_ operations: String...) -> String {
        let head = """
            wakebridge-trace 1
            clock 2026-03-28T06:00:00.000000Z zone=Europe/Berlin seed=11
            +0.000000 handler keeper manifest {"autostart":true,"transfers":[{"session":"photos"}]}
            +10.000000 handler keeper say {"transfer":{"session":"photos","id":"17","url":"http://example.org/17","to":"17"}}

            """
        return head + operations.joined(separator: "\n") + "\nend\n"
    }

    private func played(_ text: String) throws -> Replayed {
        try Replayed(trace: text, profiles: profiles, jobs: .seconds(400))
    }

    /// What a recorder makes of a trace while it is played, and the decisions meanwhile.
    private func recorded(_ text: String) throws -> (trace: String, decisions: String) {
        let replay = try VirtualReplay(TraceReader(bytes: Array(text.utf8)), profiles: profiles, jobs: .seconds(400))
        let witness = Witness(of: replay)
        var log: [UInt8] = []
        replay.logDecisions { log += $0 }
        _ = try replay.play { _ in }
        return (witness.trace, String(decoding: log, as: UTF8.self))
    }
}

/// An operator who takes back each transfer that begins.
private final class Canceller: TriggerExecutor {
    private let turn: Turn
    private(set) var count = 0

    init(_ turn: Turn) { self.turn = turn }

    func perform(_ action: TransferAction, of key: AgendaKey) {
        guard case .start = action.command, let name = turn.transferName(of: key.handler, action.number) else { return }
        count += 1
        turn.schedule(.cancelled(AgendaKey(key.handler, .transfer, name)))
    }
}

/// A played machine's zone; what is true on it stands in the trace itself.
final class ZoneOnly: MachineReading {
    private let replay: VirtualReplay

    init(_ replay: VirtualReplay) { self.replay = replay }

    var zone: String? { replay.ground.world.zone }
    var conditions: [(condition: Condition, isTrue: Bool)] { [] }
    func transferName(of handler: HandlerID, _ number: Int64) -> String? {
        replay.turn.transferName(of: handler, number)
    }
}

/// Records a replay as the daemon and the tool record a day together.
final class Witness: DayListener, EventSink {
    private let recorder: DayRecorder
    private let replay: VirtualReplay
    private var tool: TraceRecorder
    private var bytes: [UInt8]

    init(of replay: VirtualReplay) {
        let (header, world) = (replay.ground.header, replay.ground.world)
        self.replay = replay
        recorder = DayRecorder(of: replay.bridge.engine.catalog, on: ZoneOnly(replay))
        tool = TraceRecorder(
            header.devices, isUp: header.devices.map { _ in false }, start: header.start, of: .day)
        bytes = tool.begin()
        recorder.listener = self
        replay.turn.listeners.add(recorder as any InputListener)
        replay.turn.listeners.add(self as any EventSink)
        hear(DayLine.greeting(zone: world.zone, seed: header.seed, at: header.start))
        for subject in recorder.begin(at: replay.clock.stamp()) { hear(subject, at: header.start) }
    }

    var trace: String { String(decoding: bytes + tool.end(at: replay.clock.stamp().wall), as: UTF8.self) }

    func hear(_ subject: TraceOperation.Subject, at time: WallTime) { hear(DayLine.deed(subject, at: time)) }

    func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        let composer = replay.bridge.engine.composer
        hear(
            sequence.map { composer.compose(event, as: $0, budget: .zero) } ?? composer.compose(unnumbered: event))
    }

    private func hear(_ line: [UInt8]) { bytes += tool.record(line, at: replay.clock.stamp().wall) }
}

extension ProfileLibrary {
    /// Of any strap.
    static var heartRate: ProfileLibrary {
        let text = """
            {
              name: "heart-rate", title: "Heart rate", mode: "bluetooth-central", match: { services: ["180d"] },
              notify: ["2a37"],
              characteristics: {
                "2a37": { name: "heart_rate", fields: [{ name: "flags", type: "uint8" }, { name: "bpm", type: "uint8" }] },
              },
            }
            """
        let source = ProfileLibrary.Source(name: "heart-rate", file: "heart-rate", text: Array(text.utf8))
        let (library, errors) = ProfileLibrary.load([source])
        #expect(errors.isEmpty, "\(errors)")
        return library
    }
}
