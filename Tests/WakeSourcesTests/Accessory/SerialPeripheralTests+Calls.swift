// How bluetoothd is asked for serial ports over Bluetooth: for whom, when, and what its refusals and its ends mean.
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

private let logger = Radio.logger

extension SerialPeripheralTests {
    @Test("out of reach it is called again and again, which only status shows")
    func isAbsent() throws {
        let radio = try Radio("fault ConnectProfile absent 2")
        try radio.wait { try radio.calls("ConnectProfile") == 2 }
        #expect(radio.bench.source.blockingReason(of: logger)?.contains("page-timeout") == true)
        try radio.waitFor("+")
        #expect(radio.bench.source.blockingReason(of: logger) == nil)
    }

    @Test("a call that bluetoothd never answers is given up, and made again")
    func givesUp() throws {
        let radio = try Radio("fault ConnectProfile never 1", callPatience: .milliseconds(500))
        try radio.wait { radio.bench.source.blockingReason(of: logger)?.contains("timed out") == true }
        try radio.waitFor("+")
        #expect(try radio.calls("ConnectProfile") == 2)
    }

    @Test("a call that is never answered ends with bluetoothd, and is made again of the next one")
    func survivesSilence() throws {
        let radio = try Radio("fault ConnectProfile never 9")
        try radio.wait { try radio.calls("ConnectProfile") == 1 }
        try radio.replaceBluez()
        #expect(radio.bench.source.blockingReason(of: logger) == "bluetoothd died while it was asked to connect it")
        try radio.tell("adapter hci0", "logger 1 hci0", "live")
        try radio.waitFor("+")
    }

    @Test(
        "a call of which bluetoothd dies is not made at once of the next one, so that this lives for others",
        arguments: [TimeSpan.seconds(1), .seconds(3_600)])
    func sparesBluetoothd(pause: TimeSpan) throws {
        let radio = try Radio("logger 2 hci0", "fault ConnectProfile exit 1", pauseAfterDeath: pause)
        try radio.wait { radio.bluez.isGone && !radio.client.isThere }
        try radio.replaceBluez()
        try radio.tell("adapter hci0", "logger 1 hci0", "logger 2 hci0", "live")
        // Who waited for its turn is called at once, who was asked for is not.
        try radio.wait { radio.bench.story() == ["+"] }
        guard pause < .seconds(60) else {
            try radio.bench.pause(.milliseconds(300))
            #expect(try radio.calls("ConnectProfile") == 1)
            return
        }
        try radio.wait { radio.bench.story() == ["+", "+"] }
    }

    @Test("a bluetoothd that is stopped in order has not died of the call that was under way")
    func stopsInOrder() throws {
        let radio = try Radio("fault ConnectProfile never 9", pauseAfterDeath: .seconds(3_600))
        try radio.wait { try radio.calls("ConnectProfile") == 1 }
        try radio.tell("release")
        try radio.wait {
            radio.bench.source.blockingReason(of: logger)?.contains("let go of the bridge's profile") == true
        }
        try radio.replaceBluez()
        try radio.tell("adapter hci0", "logger 1 hci0", "live")
        try radio.waitFor("+")
    }

    @Test("a message bus that is lost is no death of bluetoothd")
    func losesBus() throws {
        let radio = try Radio("fault ConnectProfile never 9", pauseAfterDeath: .seconds(3_600))
        try radio.wait { try radio.calls("ConnectProfile") == 1 }
        radio.bus.kill()
        try radio.wait { !radio.client.isThere }
        #expect(radio.bench.source.blockingReason(of: logger) == "bluetoothd is not there")
    }

    @Test("those of one adapter are called one after the other")
    func takesTurns() throws {
        let radio = try Radio("logger 2 hci0", "fault ConnectProfile never 1", callPatience: .seconds(4))
        try radio.wait { try radio.calls("ConnectProfile") == 1 }
        try radio.bench.pause(.milliseconds(300))
        #expect(try radio.calls("ConnectProfile") == 1)
        try radio.wait { radio.bench.story() == ["+"] }
        #expect(try radio.calls("ConnectProfile") == 2)
        try radio.wait { radio.bench.story() == ["+", "+"] }
    }

    @Test(
        "known to two adapters it is called by the other when the one has gone, or does not trust it any more",
        arguments: ["remove hci0", "distrust hci0"])
    func changesAdapter(end: String) throws {
        let radio = try Radio("adapter hci1", "logger 1 hci1")
        try radio.waitFor("+")
        #expect(try radio.calls("ConnectProfile") == 1)
        try radio.tell(end)
        try radio.wait { try radio.calls("NewConnection") == 2 }
        try radio.tell("speak 1 there")
        try radio.wait { radio.bench.story(logger).last == ":there" }
    }

    @Test("a refused registration is tried again, and what waited is called then")
    func registersAgain() throws {
        let radio = try Radio("fault RegisterProfile failed 1")
        try radio.wait { radio.bench.source.blockingReason(of: logger)?.contains("does not let the bridge") == true }
        try radio.waitFor("+")
        #expect(try radio.calls("RegisterProfile") == 2 && radio.calls("ConnectProfile") == 1)
    }

    @Test("refused for longer, handlers hear of it, with what to do")
    func isRefused() throws {
        let radio = try Radio("fault RegisterProfile failed 99")
        try radio.waitFor("!access-denied")
        #expect(radio.bench.source.blockingReason(of: logger)?.contains("stop the program that has registered") == true)
        try radio.tell("fault RegisterProfile failed 0")
        try radio.waitFor("!access-denied", "+")
    }

    @Test(
        "a profile that cannot be offered to bluetoothd is offered again like a refused one, and no call waits for ever"
    )
    func isNotExported() throws {
        let radio = try Radio("set 1 Trusted no")
        var refusals: [PortRefusal] = []
        let profile = try SerialProfile(radio.client, at: "no path", on: radio.bench.loop) { _, event in
            if case .refused(let why) = event { refusals.append(why) }
        }
        try radio.wait { radio.client.isThere }
        profile.register()
        try radio.wait { refusals.count == 2 }
        #expect(profile.hindrance == refusals.last)
        guard case .other? = refusals.first else {
            Issue.record("\(refusals)")
            return
        }
    }

    @Test("with its adapter switched off it is not called, and called at once when that is on again")
    func followsAdapter() throws {
        let radio = try Radio("power hci0 off")
        try radio.wait { radio.bench.source.blockingReason(of: logger) == "its adapter is down" }
        try radio.tell("power hci0 on")
        try radio.waitFor("+")
        #expect(try radio.calls("ConnectProfile") == 1)
    }
}
