// How a serial port over Bluetooth is called, and called again: like a node that is opened, at the pace of a radio.
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

private let device = "/org/bluez/hci0/dev_00_1D_FD_00_00_01"

@Suite("Calling a serial port over Bluetooth")
struct CallStories {
    private func bench(heardUntil: WallTime? = nil) -> PortBench {
        PortBench(AccessoryPlan(node: .rfcomm), heardUntil: heardUntil, patience: .calling)
    }

    @Test("out of reach it is called ever less often, once a minute at last, and no handler is troubled")
    func isAbsent() {
        var bench = bench()
        bench.refusal = .absent("page-timeout")
        bench.plug(device)
        var waits: [Int64] = []
        while waits.count < 10 {
            let (before, count) = (bench.now, bench.opens.count)
            bench.wait((bench.machine.deadline ?? .zero) - bench.now.moment.monotonic)
            #expect(bench.opens.count == count + 1)
            waits.append((bench.now.moment.monotonic - before.moment.monotonic).wholeMilliseconds / 1_000)
        }
        #expect(waits == [1, 1, 2, 4, 8, 16, 32, 60, 60, 60])
        #expect(bench.story == [] && bench.sentences.count == 1)
        #expect(bench.machine.blockingReason == "page-timeout")
        bench.refusal = nil
        bench.wait(.seconds(61))
        #expect(bench.story == ["+"], "what was not near has said nothing")
    }

    @Test("refused for another reason three times, handlers are told so once")
    func isRefused() {
        var bench = bench()
        bench.refusal = .other("br-connection-key-missing")
        bench.plug(device)
        bench.wait(.milliseconds(1_900))
        #expect(bench.story == [])
        bench.wait(.seconds(600))
        #expect(bench.story == ["!access-denied"])
    }

    @Test("however often it was out of reach, another reason is told after three tries")
    func isRefusedOnce() {
        var bench = bench()
        bench.refusal = .absent("page-timeout")
        bench.plug(device)
        bench.wait(.seconds(3_600))
        bench.refusal = .other("br-connection-busy")
        bench.wait(.seconds(119))
        #expect(bench.story == [])
        bench.wait(.seconds(62))
        #expect(bench.story == ["!access-denied"])
    }

    @Test("after another program disconnects it, it is called again in five seconds, and nothing before was lost")
    func isParted() {
        var bench = bench()
        bench.plug(device)
        bench.wait(.seconds(60))
        let parted = bench.now
        bench.take(.parted)
        bench.wait(.milliseconds(4_999))
        #expect(bench.opens.count == 1)
        bench.wait(.seconds(10))
        #expect(bench.story == ["+", "-hung-up", "gap", "+"] && bench.gaps.last?.from == parted.wall)
    }

    @Test("gone from bluetoothd after it hung up, it comes back with the gap that was not reported yet")
    func goesWithItsAdapter() {
        var bench = bench()
        bench.plug(device)
        bench.wait(.seconds(60))
        let lost = bench.now
        bench.refusal = .absent("page-timeout")
        bench.take(.lost)
        bench.wait(.seconds(10))
        bench.unplug()
        bench.wait(.seconds(10))
        bench.refusal = nil
        bench.plug(device)
        bench.wait(.seconds(10))
        #expect(bench.story == ["+", "-hung-up", "gap", "+"])
        #expect(bench.gaps.last?.from == lost.wall - .seconds(20))
    }

    @Test(
        "paused, closed or let go, it may have been dead for a while; over the system's sleep, since that began"
    )
    func isDoubtful() {
        for input in [PortInput.session(.closed), .session(.paused), .detached] {
            var bench = bench()
            bench.plug(device)
            bench.wait(.seconds(60))
            let end = bench.now
            bench.take(input)
            #expect(bench.machine.listening == .until(end.wall - .seconds(20)), "\(input)")
        }
        var bench = bench()
        bench.plug(device)
        bench.wait(.seconds(60))
        bench.say("a")
        let said = bench.now
        bench.wait(.seconds(5))
        bench.sleep(.seconds(3_600))
        bench.take(.lost)
        bench.wait(.seconds(10))
        #expect(bench.gaps.last?.from == said.wall)
    }

    @Test("what kept it from being called may be gone: it is called at once")
    func isWoken() {
        var bench = bench()
        bench.refusal = .absent("page-timeout")
        bench.plug(device)
        bench.wait(.seconds(600))
        bench.refusal = nil
        bench.take(.changed)
        #expect(bench.machine.isOpen)
    }

    @Test("what hangs up is called again soon, and ever later where that does not last; all it may have said is a gap")
    func hangsUp() {
        var bench = bench()
        bench.plug(device)
        bench.wait(.seconds(20))
        let lost = bench.now
        bench.take(.lost)
        bench.refusal = .absent("page-timeout")
        bench.wait(.seconds(30))
        #expect(bench.story == ["+", "-hung-up"] && bench.told.last?.at == lost)
        bench.refusal = nil
        bench.wait(.seconds(60))
        #expect(bench.story == ["+", "-hung-up", "gap", "+"])
        #expect(bench.gaps.last?.from == lost.wall - .seconds(20), "its link may have been dead for so long")
        bench.say("a")
        bench.wait(.seconds(5))
        bench.take(.lost)
        bench.wait(.seconds(5))
        #expect(bench.gaps.last?.from == bench.now.wall - .seconds(10), "or since it spoke last")
        bench.wait(.seconds(20))
        let count = bench.opens.count
        for _ in 1...6 {
            bench.take(.lost)
            bench.wait(.seconds(9))
        }
        #expect(bench.opens.count == count + 5, "after 0.5, 1, 2, 4, 8 and 16 s, the last of which is not over")
    }

    @Test("not trusted any more it is hung up, and told to be removed")
    func isRemoved() {
        var bench = bench()
        bench.plug(device)
        bench.wait(.seconds(2))
        bench.unplug()
        bench.wait(.seconds(2))
        #expect(bench.closes == 1 && bench.story == ["+", "gap", "-removed"])
        #expect(bench.machine.blockingReason?.contains("plug its adapter in, or pair it again") == true)
    }

    @Test("giving and withdrawing trust counts as no plug and unplug")
    func isNotPlugged() {
        var bench = bench()
        bench.refusal = .absent("page-timeout")
        for _ in 1...8 {
            bench.plug(device)
            bench.unplug()
        }
        bench.refusal = nil
        bench.plug(device)
        bench.wait(.seconds(2))
        #expect(bench.story == ["+"], "neither unstable nor folded")
    }
}
