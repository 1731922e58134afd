// Tables that are shown again and again with --watch: in place on a terminal, as blocks on a pipe.
import Glibc
import TestBench
import Testing
import WakeControl
import WakeModel
import WakeSystem

@testable import WakeAPI
@testable import wakebridge

@Suite("A table with --watch", .serialized) struct LiveViewTests {
    /// A daemon of one handler, which knows how often it was asked; it hangs where `answers` are used up.
    private final class Asked {
        var times = 0
        var answers = Int.max

        func answer(_ request: ControlRequest) -> ControlResponse {
            times += 1
            guard times <= answers else { return .later { _ in } }
            let handler = HandlerReport(id: "strap", state: "suspended", why: "answer \(times)")
            let bridge = BridgeStatus(
                version: "9.8.7", process: 77, journal: "j7", uptime: .seconds(10), suspension: .strong,
                journalHealth: "ok", residentBytes: 1 << 20)
            switch request.path.dropFirst().first {
            case "status":
                return .json(WholeStatus(bridge: bridge, handlers: [handler], devices: [], adapters: nil))
            case "devices" where request.path.count == 2:
                return .object { $0.field("devices", shaped: [LiveViewTests.strap]) }
            case "handlers" where request.path.count == 3: return .json(handler)
            default: return .object { $0.field("handlers", shaped: [handler]) }
            }
        }
    }

    private static let strap = DeviceStatus(
        device: Device(
            uri: "/bluetooth/C0:F1:F2:F3:F4:01", alias: "chest-strap", profile: "heart-rate-monitor",
            kind: .bluetoothCentral, isBonded: true), link: "connected")

    private let asked = Asked()

    private func fixture() throws -> Fixture {
        let asked = asked
        return try Fixture.answering { asked.answer($0) }
    }

    /// On a terminal; types the answer once the prompt is there.
    private func terminal(_ prompt: String, _ answer: String, _ fixture: Fixture, _ words: String...) throws
        -> Fixture.Outcome
    {
        let script = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/terminal.py"
        let start = ["/usr/bin/python3", script, #"[["\#(prompt)", "\#(answer)"]]"#, "0", Built.tool]
        return try fixture.run(start + ["--socket", fixture.path] + words)
    }

    @Test("status is drawn in place on a terminal without a cursor, which is back after Ctrl-C, and ends with 0")
    func drawn() throws {
        let drawn = try terminal("answer 3", "\\u0003", try fixture(), "status", "--watch=20ms")
        #expect(drawn.exit == 0 && drawn.output.hasPrefix("\u{1b}[?25l"), "\(drawn)")
        #expect(drawn.output.hasSuffix("\u{1b}[?25h"), "\(drawn)")
        let frames = drawn.output.split(separator: "\u{1b}[J")
        #expect(frames.count >= 4 && frames[1].hasPrefix("\u{1b}[") && frames[1].contains("A\r"), "\(drawn)")
        #expect(frames.dropLast().allSatisfy { $0.split(separator: "\u{1b}[K\r\n").count > 5 }, "\(drawn)")
        #expect(!drawn.output.contains("\u{1b}[2J") && !drawn.output.contains("\u{1b}[H"))
    }

    @Test("Ctrl-C ends it with 0 and a cursor also while the daemon hangs, and so does q between two looks")
    func ended() throws {
        asked.answers = 2
        let hung = try terminal("answer 2", "\\u0003", try fixture(), "status", "--watch=20ms")
        #expect(hung.exit == 0 && hung.output.hasSuffix("\u{1b}[?25h"), "\(hung)")
        (asked.times, asked.answers) = (0, .max)
        let quit = try terminal("answer 1", "q", try fixture(), "status", "--watch=1h")
        #expect(quit.exit == 0 && asked.times == 1 && quit.output.hasSuffix("\u{1b}[?25h"), "\(quit)")
    }

    @Test("on a pipe --watch=TIME prints a block each time, with its time above, until a signal ends it with 0")
    func blocks() throws {
        let fixture = try fixture()
        let child = try Child([Built.tool, "--socket", fixture.path, "handlers", "strap", "--watch=10ms"])
        #expect(try fixture.turn { asked.times > 3 })
        kill(child.process, SIGINT)
        #expect(try fixture.turn { child.isOver } && child.exit == 0)
        let blocks = child.output.split(separator: "\n\n")
        #expect(blocks.count >= 3 && blocks.allSatisfy { $0.hasPrefix("20") }, "\(child.output)")
        #expect(blocks.allSatisfy { $0.contains("\nHANDLER  STATE") } && !child.output.contains("\u{1b}"))
    }

    @Test("on a pipe --watch without a TIME prints once, and of a daemon that is not there it tells as ever")
    func once() throws {
        let fixture = try fixture()
        let outcome = try fixture.tool("status", "--watch")
        #expect(outcome.exit == 0 && asked.times == 1 && outcome.output.hasPrefix("wakebridged 9.8.7"))
        let absent = try Child([Built.tool, "--socket", "/nonexistent/sock", "status", "--watch=1"]).finish()
        #expect(absent.exit == 3 && absent.output == "" && absent.talk.contains("there is no such socket"), "\(absent)")
    }

    @Test("devices, all of them or one in full, are watched as well")
    func devices() throws {
        let fixture = try fixture()
        func watched(_ words: String...) throws -> String {
            let bus = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent/bus"
            let tool = ["env", bus, Built.tool, "--socket", fixture.path, "devices", "--watch=10ms"]
            let child = try Child(tool + words)
            asked.times = 0
            #expect(try fixture.turn { asked.times > 9 })
            kill(child.process, SIGINT)
            #expect(try fixture.turn { child.isOver } && child.exit == 0)
            return child.output
        }
        #expect(try watched().split(separator: "chest-strap  C0:F1:F2:F3:F4:01").count > 2)
        #expect(try watched("chest").split(separator: "source     /bluetooth/C0:F1:F2:F3:F4:01").count > 2)
    }
}
