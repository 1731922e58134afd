// Serial ports over Bluetooth, with a scripted bluetoothd on a bus of the test's own that hands over real sockets.
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

private let logger = Radio.logger

private func descriptors() -> Int { names(in: "/proc/self/fd").count }

@Suite("Serial ports over Bluetooth", .serialized)
struct SerialPeripheralTests {
    @Test("paired and trusted it is called, heard in whole messages, and called again when it has hung up")
    func lives() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        #expect(radio.bench.known[logger]?.alias == "logger-0001")
        #expect(radio.bench.known[logger]?.kind == .externalAccessory)
        try radio.tell("speak 1 one", "speak 1 two")
        try radio.waitFor("+", ":one", ":two")
        try radio.tell("hangup 1")
        try radio.wait { try radio.calls("NewConnection") == 2 }
        try radio.wait { radio.bench.story().count == 6 }
        try radio.tell("speak 1 three")
        try radio.waitFor("+", ":one", ":two", "-hung-up", "gap", "+", ":three")
    }

    @Test("it is written to while it is connected, and not otherwise")
    func writes() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        var answers: [Result<Void, TalkFailure>] = []
        radio.bench.source.write(Array("PMTK\r\n".utf8), to: nil, of: logger) { answers.append($0) }
        radio.bench.source.write(Array("$".utf8), to: .report(1), of: logger) { answers.append($0) }
        try radio.wait { answers.count == 2 }
        #expect(try radio.bluez.tell("heard 1").hasPrefix("PMTK"))
        guard case .success = answers[0], case .failure(.refused) = answers[1] else {
            Issue.record("\(answers)")
            return
        }
        try radio.tell("fault ConnectProfile absent 99", "hangup 1")
        try radio.waitFor("+", "-hung-up")
        radio.bench.source.write([1], to: nil, of: logger) { answers.append($0) }
        guard case .failure(.notConnected) = answers[2] else {
            Issue.record("\(answers)")
            return
        }
    }

    @Test(
        "neither trusted, bonded nor with a serial port, nor blocked, it is left alone",
        arguments: [
            ("set 1 Trusted no", "set 1 Trusted yes"), ("set 1 Bonded no", "set 1 Bonded yes"),
            ("set 1 Blocked yes", "set 1 Blocked no"),
            ("offer 1 0000110b-0000-1000-8000-00805f9b34fb", "offer 1 00001101-0000-1000-8000-00805f9b34fb"),
        ])
    func leavesAlone(hindered: String, freed: String) throws {
        let radio = try Radio(hindered)
        try radio.wait { radio.client.isThere }
        try radio.bench.pause(.milliseconds(50))
        #expect(try radio.calls("ConnectProfile") == 0 && radio.calls("RegisterProfile") == 0)
        try radio.tell(freed)
        try radio.waitFor("+")
        #expect(try radio.calls("ConnectProfile") == 1)
        try radio.tell(hindered)
        try radio.waitFor("+", "gap", "-removed")
        #expect(try radio.bluez.tell("heard 1") == ".", "its channel is shut down")
        #expect(try radio.calls("Disconnect") == 0)
    }

    @Test("a channel that comes when it is not wanted any more is closed")
    func comesTooLate() throws {
        let radio = try Radio("adapter hci1", "logger 2 hci1", "fault ConnectProfile never 9")
        try radio.wait { try radio.calls("ConnectProfile") == 2 }
        radio.bench.source.setSession(.closed, of: logger)
        try radio.tell("push 1")
        try radio.wait { try radio.bluez.tell("heard 1") == "." }
        try radio.tell("set 2 Trusted no", "push 2")
        try radio.wait { try radio.calls("rejected") == 1 }
        try radio.bench.pause(.milliseconds(50))
        #expect(radio.bench.story() == [])
    }

    @Test("it is bonded while it is watched, and not when its bond is lost")
    func tellsBond() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        #expect(radio.bench.known[logger]?.isBonded == true)
        try radio.tell("set 1 Bonded no")
        try radio.wait { radio.bench.known[logger]?.isBonded == false }
        try radio.tell("set 1 Bonded yes")
        try radio.wait { radio.bench.known[logger]?.isBonded == true }
    }

    @Test("its name is what people call it there")
    func isRenamed() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        try radio.tell("set 1 Alias Boat")
        try radio.wait { radio.bench.known[logger]?.alias == "Boat" }
        #expect(try radio.calls("ConnectProfile") == 1)
    }

    @Test("closed, its channel is shut down and it is not called; open it is called again, after a gap")
    func closes() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        radio.bench.source.setSession(.closed, of: logger)
        try radio.waitFor("+", "-session-closed")
        try radio.wait { try radio.bluez.tell("heard 1") == "." }
        // Whoever else connects it finds nobody.
        try radio.tell("push 1")
        try radio.wait { try radio.calls("rejected") == 1 }
        #expect(try radio.calls("ConnectProfile") == 1 && radio.calls("Disconnect") == 0)
        radio.bench.source.setSession(.open, of: logger)
        try radio.waitFor("+", "-session-closed", "gap", "+")
        #expect(try radio.calls("ConnectProfile") == 2)
    }

    @Test("paused it stays connected, and is not heard")
    func pauses() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        radio.bench.source.setSession(.paused, of: logger)
        try radio.tell("speak 1 unheard")
        try radio.bench.pause(.milliseconds(50))
        radio.bench.source.setSession(.open, of: logger)
        try radio.tell("speak 1 heard")
        try radio.waitFor("+", "-session-paused", "gap", "+", ":heard")
        #expect(try radio.calls("ConnectProfile") == 1)
    }

    @Test(
        "while bluetoothd is dead an open channel goes on; the next one is registered with, and calls what hangs up then",
        arguments: [["adapter hci0", "logger 1 hci0", "live"], ["live", "adapter hci0", "logger 1 hci0"]])
    func outlivesBluetoothd(next: [String]) throws {
        // However soon it is called again, it was gone.
        let radio = try Radio(replugGrace: .zero)
        try radio.waitFor("+")
        try radio.tell("die")
        try radio.wait { !radio.client.isThere }
        try radio.tell("speak 1 during")
        try radio.waitFor("+", ":during")
        try radio.tell(next)
        try radio.wait { try radio.calls("RegisterProfile") == 2 }
        try radio.tell("speak 1 after")
        try radio.waitFor("+", ":during", ":after")
        #expect(try radio.calls("ConnectProfile") == 1)
        try radio.tell("hangup 1")
        try radio.waitFor("+", ":during", ":after", "-hung-up", "gap", "+")
        #expect(try radio.calls("NewConnection") == 2)
    }

    @Test("a second channel is refused while the first stands open, and taken where none does")
    func takesOne() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        try radio.tell("push 1")
        try radio.wait { try radio.calls("rejected") == 1 }
        try radio.tell("speak 1 one")
        try radio.waitFor("+", ":one")
        try radio.tell("fault ConnectProfile absent 99", "hangup 1")
        try radio.waitFor("+", ":one", "-hung-up")
        try radio.tell("push 1")
        try radio.waitFor("+", ":one", "-hung-up", "gap", "+")
        try radio.tell("speak 1 two")
        try radio.waitFor("+", ":one", "-hung-up", "gap", "+", ":two")
    }

    @Test("what the next bluetoothd does not tell of is removed")
    func isMissing() throws {
        let radio = try Radio(arrivalPatience: .milliseconds(200))
        try radio.waitFor("+")
        try radio.tell("die")
        try radio.wait { !radio.client.isThere }
        try radio.tell("adapter hci0", "live")
        try radio.wait { radio.bench.story(logger).last == "-removed" }
        #expect(radio.bench.source.blockingReason(of: logger)?.contains("does not know it") == true)
    }

    @Test("asked to let go it does, and calls again; let go of by bluetoothd it registers again")
    func letsGo() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        try radio.tell("part 1")
        try radio.waitFor("+", "-hung-up", "gap", "+")
        try radio.tell("release", "hangup 1")
        try radio.wait { try radio.calls("RegisterProfile") == 2 && radio.calls("NewConnection") == 3 }
    }

    @Test("what a flood brings is heard whole and in order")
    func survivesFlood() throws {
        let radio = try Radio("logger 2 hci0")
        try radio.wait { radio.bench.story() == ["+", "+"] }
        try radio.tell("speak 1 x 20000", "speak 2 calm")
        try radio.wait { radio.bench.story().contains(":calm") }
        try radio.wait { radio.bench.told.count == 20_003 }
        let words = radio.bench.story(logger).dropFirst()
        #expect(words.elementsEqual((0..<20_000).map { ":x \($0)" }))
    }

    @Test("no descriptor is left of channels that came and went")
    func closesAll() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        radio.bench.source.setSession(.closed, of: logger)
        try radio.wait { try radio.bluez.tell("heard 1") == "." }
        let before = descriptors()
        for round in 1...20 {
            radio.bench.source.setSession(.open, of: logger)
            try radio.wait { radio.bench.source.watched[logger]?.machine.isOpen == true }
            try radio.tell("push 1")
            try radio.wait { try radio.calls("rejected") == round }
            radio.bench.source.setSession(.closed, of: logger)
            try radio.wait { try radio.bluez.tell("heard 1") == "." }
        }
        #expect(try radio.bench.turn { descriptors() <= before })
    }

    @Test("only bluetoothd can hand over channels")
    func refusesStrangers() throws {
        let radio = try Radio()
        try radio.waitFor("+")
        let refused = try Child([
            "env", "DBUS_SESSION_BUS_ADDRESS=\(radio.bus.address)", "dbus-send", "--session", "--print-reply",
            "--dest=\(radio.bluez.tell("client"))", "/org/wakebridge/serial",
            "org.bluez.Profile1.RequestDisconnection", "objpath:/org/bluez/hci0/dev_00_1D_FD_00_00_01",
        ])
        try radio.wait { refused.isOver }
        #expect(refused.talk.contains("not bluetoothd"), "\(refused.talk)")
        try radio.tell("speak 1 on")
        try radio.waitFor("+", ":on")
    }
}
