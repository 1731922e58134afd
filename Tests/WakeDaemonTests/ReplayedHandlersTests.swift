// Handlers with manifests in a replay: those that the trace brings, those that take their place, and what models do for them.
import TestBench
import Testing
import WakeCore
import WakeEngine
import WakeModel
import WakeProfiles
import WakeTrace

private let tick = #""alarms":[{"id":"tick","every":"10m"}]"#

@Suite("Handlers with manifests in a replay")
struct ReplayedHandlersTests {
    @Test(
        "a handler gets what comes due, whether it stays, says when it is ready, runs for each batch, or cannot answer",
        arguments: ["", #""ready":"explicit","#, #""lifecycle":"oneshot","#, #""ack":"delivery","#])
    func kinds(keys: String) throws {
        let played = try Replayed("+0 handler w manifest {\(keys)\(tick)}", "+1300 machine synchronized on")
        #expect(played.seconds(of: "deliver") == [600, 1_200], "\(played.decisions)")
        #expect(played.seconds(of: "ack") == [600, 1_200], "\(played.decisions)")
        #expect(!played.decisions.contains("charge") && !played.decisions.contains("strike"), "\(played.decisions)")
    }

    @Test("each handler of a trace is woken by its own manifest, and there is none beside them")
    func several() throws {
        let played = try Replayed(
            "+0 handler a manifest {\(tick)}", #"+0 handler b manifest {"poll":{"min_interval":"20m"}}"#,
            "+1 1 data 2a37 01", "+1790 machine synchronized on")
        #expect(played.seconds(of: "deliver", by: "a") == [600, 1_200])
        #expect(played.seconds(of: "deliver", by: "b").count == 1)
        #expect(!played.decisions.contains("model"), "\(played.decisions)")
    }

    @Test("messages of a trace wake as their inbox lets them, and what a daemon does not take is told with its line")
    func messages() throws {
        let played = try Replayed(
            #"+0 handler w manifest {"inbox":{"rate":"6/h","burst":1}}"#, #"+10 handler w message {"payload":"a"}"#,
            #"+100 handler w message {"payload":"b"}"#, #"+100 handler w message {"payload":"c","urgency":"low"}"#,
            "+1000 machine synchronized on")
        #expect(played.seconds(of: "deliver") == [10, 610, 610], "\(played.decisions)")
        #expect(played.values("payload", of: "message.received") == ["a", "b", "c"])
        let error = thrown(TraceError.self) {
            try Replayed(#"+0 handler w manifest {"inbox":{}}"#, #"+1 handler w message {"urgency":"much"}"#)
        }
        #expect(error?.reason.contains("the message is refused") == true && error?.line == 5)
    }

    @Test("a manifest that changes, and one that is taken away, do so at the time of their lines")
    func changes() throws {
        let played = try Replayed(
            "+0 handler w manifest {\(tick)}", #"+1000 handler w manifest {"alarms":[{"id":"tock","every":"5m"}]}"#,
            "+700 handler w remove", "+2000 machine synchronized on")
        #expect(played.seconds(of: "deliver") == [600, 1_300, 1_600], "\(played.decisions)")
    }

    @Test(
        "what waits in a socket wakes a handler at the time of its line, its keep-alive comes in time, and a restart closes nothing"
    )
    func sockets() throws {
        let played = try Replayed(
            #"+0 handler w manifest {"sockets":[{"name":"sip","connect":"tcp:192.0.2.1:5060","keepalive":"10m"}]}"#,
            "+100 handler w readable sip 212", "+100 machine restart", "+600 handler w readable sip 7",
            "+1 machine synchronized on")
        #expect(played.seconds(of: "socket sip raise socket.opened") == [0], "\(played.decisions)")
        #expect(played.seconds(of: "socket sip raise socket.readable") == [100, 800], "\(played.decisions)")
        #expect(played.seconds(of: "socket sip raise socket.keepalive") == [570], "\(played.decisions)")
        #expect(!played.decisions.contains("socket.closed"), "\(played.decisions)")
    }

    @Test("manifests of the caller take the place of the trace's, whose other handlers are left out")
    func others() throws {
        let text = """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z
            +0 handler w manifest {\(tick)}
            +0 handler other manifest {\(tick)}
            +1 handler other stop
            +1 handler w attach
            +1 handler w detach
            +1000 handler w remove
            +200 machine synchronized on
            end

            """
        let mine = try HandlerManifest(
            replaying: "w", file: "w.json5",
            text: Array(#"{ exec: ["./w"], alarms: [{ id: "a", every: "7m" }] }"#.utf8),
            ProfileLibrary())
        let played = try Replayed(trace: text, manifests: [mine])
        #expect(played.seconds(of: "alarm a raised") == [420, 840])
        #expect(played.decisions.contains("attach") && !played.decisions.contains("other"), "\(played.decisions)")
    }

    @Test("a manifest of a trace that is at fault is told with its line and its fault")
    func faults() throws {
        let error = thrown(TraceError.self) {
            try Replayed("+0 handler w manifest {\(tick)}", #"+1 handler w manifest {"poll":{"min_interval":"1s"}}"#)
        }
        #expect(
            error?.line == 5 && error?.reason.contains("the manifest is refused: w: poll") == true,
            "\(error?.reason ?? "")")
    }

    @Test("a handler whose devices must be bonded hears them in a replay, for what a trace holds was received")
    func bonds() throws {
        let manifest = try HandlerManifest(
            replaying: "w", file: "w.json5",
            text: Array(
                #"{"modes":["bluetooth-central"],"watch":[{"profile":"heart-rate"}],"require":["bonded"]}"#.utf8),
            .heartRate)
        let text = """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +1 1 data 2a37 0048
            end

            """
        let played = try Replayed(trace: text, profiles: .heartRate, manifests: [manifest])
        #expect(played.seconds(of: "ack 1") == [1], "\(played.decisions)")
    }
}
