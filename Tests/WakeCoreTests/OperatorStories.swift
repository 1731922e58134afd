// What people do to handlers: stop, start, attach, change a manifest, and end the bridge.
import Testing
import WakeModel

@testable import WakeCore

@Suite("Operators and manifests")
struct OperatorStories {
    @Test(
        "Stop ends a running handler with notice, SIGTERM and, after the terminate timer, the kill; only start wakes it"
    )
    func stop() {
        let story = Scenario()
        story.termLatency = nil
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.operate(.stop, handler)
        #expect(story.notices(handler) == [.terminating(reason: "stopped", within: .seconds(5))])
        story.advance(.milliseconds(5010))
        #expect(story.kills(handler) == 1 && story.state(handler) == .stopped && story.held(handler) == 0)
        story.data(device)
        story.operate(.wake, handler)
        story.operate(.attach, handler)
        story.advance(.seconds(600))
        #expect(story.launches(handler) == 1 && story.core.nextMonotonicDeadline == nil)
        #expect(story.count { if case .setStopped(handler, true) = $0 { true } else { false } } == 1)
        story.close()
    }

    @Test(
        "Restart ends a process in order and starts the next; what was open comes again, and nothing is lost or charged"
    )
    func restartOfProcess() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        let first = story.deliveries(handler).last?.events.map(\.sequence)
        story.operate(.restart, handler)
        #expect(story.notices(handler) == [.terminating(reason: "restarted", within: .seconds(5))])
        story.advance(.seconds(1))
        #expect(story.launches(handler) == 2 && story.kills(handler) == 0 && story.held(handler) == 0)
        #expect(story.gaps(handler).isEmpty && story.deliveries(handler).last?.events.map(\.sequence) == first)
        story.close()
    }

    @Test("A restart launches a handler that has no process, and leaves a stopped one alone")
    func restartWithoutProcess() {
        let story = Scenario()
        let handler = story.handler()
        story.operate(.restart, handler)
        story.advance(.seconds(1))
        #expect(story.launches(handler) == 1)
        story.operate(.stop, handler)
        story.advance(.seconds(10))
        story.operate(.restart, handler)
        story.advance(.seconds(10))
        #expect(story.launches(handler) == 1 && story.state(handler) == .stopped)
        story.close()
    }

    @Test("Events for a stopped handler are dropped into one gap, over connects too, which is delivered at the start")
    func stoppedDrop() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.data(device)
        story.operate(.stop, handler)
        story.advance(.seconds(1))
        for _ in 0..<3 {
            story.data(device)
            story.event(.connected(folded: 0), device)
        }
        #expect(story.gaps(handler).map(\.cause) == [.stopped] && story.gaps(handler).first?.count == 8)
        story.operate(.start, handler)
        #expect(story.deliveries(handler).last?.events.count == 1)
        story.close()
    }

    @Test("A gap is journaled as safely as the event that it reports, however little its handler asks for")
    func gapBesideEvent() {
        let story = Scenario()
        let device = story.device()
        let weak = story.handler { $0.subscriptions[0].durability = .run }
        let strong = story.handler(2) { $0.subscriptions[0].durability = .disk }
        story.data(device)
        story.operate(.stop, weak)
        story.advance(.seconds(1))
        story.data(device)
        story.operate(.stop, strong)
        story.advance(.seconds(1))
        let gaps = [weak, strong].map { id in
            story.count { effect in
                guard case .append(_, let event, let owners, .disk) = effect, case .gap = event.kind else {
                    return false
                }
                return owners == [id]
            }
        }
        #expect(gaps == [1, 1])
        #expect(story.count { if case .append(_, _, _, .run) = $0 { true } else { false } } == 0)
        story.close()
    }

    @Test("stop_events: keep keeps them")
    func stoppedKeep() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.stoppedEvents = .keep }
        story.data(device)
        story.operate(.stop, handler)
        story.advance(.seconds(1))
        story.data(device)
        #expect(story.handlerStatus(handler)?.queuedCount == 2 && story.gaps(handler).isEmpty)
        story.operate(.start, handler)
        #expect(story.attempts(handler) == [1, 2, 1])
        story.close()
    }

    @Test("I9: a stopped handler never runs until start, over a restart and a manifest disabled and enabled")
    func sticky() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .silent, isStopped: true) { $0.startsAtBoot = true }
        story.reconfigure(handler) { $0.isEnabled = false }
        story.reconfigure(handler) { $0.isEnabled = true }
        story.data(device)
        #expect(story.state(handler) == .stopped && story.launches(handler) == 0)
        story.operate(.start, handler)
        #expect(story.state(handler) == .active)
        story.close()
    }

    @Test("A disabled manifest does not run, whatever start says, until it is enabled")
    func disabled() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.stoppedEvents = .keep }
        story.data(device)
        story.reconfigure(handler) { $0.isEnabled = false }
        story.advance(.seconds(1))
        story.operate(.start, handler)
        #expect(story.state(handler) == .stopped)
        story.reconfigure(handler) { $0.isEnabled = true }
        #expect(story.state(handler) == .active && story.delivered(handler) == [1, 1])
        story.close()
    }

    @Test("A start while the stopped process still ends is not lost")
    func startWhileStopping() {
        let story = Scenario()
        story.termLatency = .seconds(1)
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.operate(.stop, handler)
        story.operate(.start, handler)
        story.advance(.seconds(2))
        #expect(story.launches(handler) == 2 && story.attempts(handler) == [1, 2])
        story.close()
    }

    @Test("Start lifts a penalty")
    func startLiftsPenalty() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.exit(handler, .signalled(11))
        #expect(story.state(handler) == .held)
        story.operate(.start, handler)
        #expect(story.state(handler) == .active)
        story.close()
    }

    @Test("While attached there is no budget, no penalty and no pool; after detach each starts from its beginning")
    func attach() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.say(.begin("upload"), handler)
        story.operate(.attach, handler)
        story.advance(.seconds(3600))
        story.say(.begin("another"), handler)
        #expect(story.state(handler) == .active && story.struck(handler) == 0 && story.faults(handler).isEmpty)
        story.say(.end("upload"), handler)
        story.operate(.detach, handler)
        story.say(.remaining, handler)
        #expect(story.notices(handler).last == .remaining(.seconds(30), extensionLeft: .seconds(30), reference: nil))
        story.say(.end("another"), handler)
        story.advance(.seconds(7))
        #expect(story.state(handler) == .active && story.struck(handler) == 0)
        story.close()
    }

    @Test("Attach wakes, lifts a penalty, and a program that then exits is not started again and again")
    func attachAndExit() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.exit(handler, .signalled(11))
        story.operate(.attach, handler)
        #expect(story.state(handler) == .active)
        story.acknowledge(1, handler)
        story.advance(.seconds(10))
        #expect(story.state(handler) == .active)
        story.exit(handler)
        story.advance(.seconds(10))
        #expect(story.launches(handler) == 2 && story.state(handler) == .idle)
        story.close()
    }

    @Test("autostart launches at boot without an event")
    func autostart() {
        let story = Scenario()
        let handler = story.handler { $0.startsAtBoot = true }
        #expect(story.has(handler, "idle -> active autostart") && story.launches(handler) == 1)
        story.advance(.seconds(1))
        #expect(story.state(handler) == .suspended)
        story.close()
    }

    @Test("A changed program is restarted with notice, without a penalty")
    func restart() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.reconfigure(handler, restarts: true) { $0.maxBatch = 2 }
        story.advance(.seconds(1))
        #expect(story.launches(handler) == 2 && story.held(handler) == 0 && story.attempts(handler) == [1, 2])
        story.close()
    }

    @Test("A changed linger holds for a handler that lingers")
    func newLinger() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler(1, .acknowledgesBatch(.milliseconds(10))) { $0.timers.linger = .seconds(3_600) }
        story.data(device)
        story.advance(.seconds(1))
        #expect(story.state(handler) == .active)
        story.reconfigure(handler) { $0.timers.linger = .milliseconds(20) }
        story.advance(.milliseconds(50))
        #expect(story.state(handler) == .suspended)
        story.close()
    }

    @Test("Queued events follow the new rules of a changed manifest")
    func newTerms() {
        let story = Scenario()
        let device = story.device()
        let handler = story.handler { $0.subscriptions[0].wakes = false }
        story.data(device)
        #expect(story.launches(handler) == 0)
        story.reconfigure(handler) { $0.subscriptions[0].wakes = true }
        #expect(story.delivered(handler) == [1])
        story.close()
    }

    @Test("A removed handler is ended and gets nothing more")
    func remove() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.step(.remove(handler))
        story.advance(.seconds(1))
        story.step(.event(DeviceEvent(origin: device, kind: .data(.serial, [1]), stamp: story.stamp)))
        #expect(story.state(handler) == .stopped && story.delivered(handler) == [1] && story.core.isQuiet)
    }

    @Test(
        "At the end every live handler gets end of file, time to exit, and SIGTERM; open events stay in flight"
    )
    func finish() {
        let story = Scenario()
        let (device, handler) = (story.device(), story.handler())
        story.data(device)
        story.step(.finish)
        var order: [String] {
            story.log.compactMap { entry in
                switch entry.effect {
                case .closeInput: "close"
                case .requestTermination: "term"
                default: nil
                }
            }
        }
        story.advance(.milliseconds(900))
        #expect(order == ["close"])
        story.advance(.milliseconds(100))
        #expect(order == ["close", "term"])
        story.advance(.seconds(1))
        story.data(device)
        #expect(story.core.isQuiet && story.launches(handler) == 1)
        #expect(story.count { if case .giveBack = $0 { true } else { false } } == 0)
        #expect(story.core.nextMonotonicDeadline == nil && story.core.nextBoottimeDeadline == nil)
    }
}
