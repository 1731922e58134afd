// What the user's switch and bluetoothd's trust make of each other, with a bus and a bluetoothd of its own.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

private let strap = "/bluetooth/C0:DE:00:00:00:01"

extension SourceTests {
    /// One strap that was heard, is closed, and has come to rest.
    private func closed() throws -> Air {
        let air = try Air()
        try air.populate(1)
        air.close(strap)
        try air.turn { air.connected.isEmpty }
        try air.pass(.milliseconds(200))
        return air
    }

    @Test("closed, a peripheral is let go and not brought back; opened, it is watched again with its gap told")
    func closes() throws {
        let air = try Air()
        try air.populate(1)
        try air.say()
        air.sessions[strap] = .closed
        air.source?.setSession(.closed, of: strap)
        try air.turn { air.reasons == ["session-closed"] }
        try air.pass(.milliseconds(200))
        #expect(try air.bluez.tell("calls DisconnectTrusted") == "0")
        #expect(air.connected.isEmpty)
        try air.say()
        air.sessions[strap] = .open
        air.source?.setSession(.open, of: strap)
        try air.pass(.milliseconds(50))
        try air.tell("up 1")
        try air.expect(1)
        try air.say()
        try air.expectValues(2)
        try air.checkBooks()
    }

    @Test("closed, it is disconnected once: its trust goes first, or the kernel would bring it back at once")
    func closesOnce() throws {
        let air = try Air()
        try air.populate(1)
        air.source?.setSession(.closed, of: strap)
        try air.turn { air.reasons == ["session-closed"] }
        try air.expectOneCall(of: "Disconnect", quiet: .milliseconds(200))
    }

    @Test("opened or trusted again while its adapter is off, it is dialled when that is back, however much later")
    func dialsLater() throws {
        for isSwitched in [true, false] {
            var patience = LinkTimeouts()
            (patience.freshness, patience.beforeConnect) = (.milliseconds(50), .milliseconds(5))
            let air = try Air(patience: patience)
            try air.populate(1)
            if isSwitched { air.close(strap) } else { try air.tell("set 1 Trusted no") }
            try air.turn { air.connected.isEmpty }
            try air.pass(.milliseconds(50))
            try air.tell("power hci0 off")
            try air.settle()
            if isSwitched { air.open(strap) } else { try air.tell("set 1 Trusted yes") }
            try air.pass(.milliseconds(200))
            try air.tell("power hci0 on")
            try air.expect(1)
            #expect(try air.bluez.tell("calls Connect") == "1")
        }
    }

    @Test("opened, and closed before bluetoothd has answered, it is closed and still watched")
    func switchesTwice() throws {
        let air = try closed()
        air.open(strap)
        air.close(strap)
        try air.pass(.milliseconds(200))
        #expect(air.source?.watched[strap] != nil && air.connected.isEmpty)
        #expect(try air.bluez.tell("trusted 1") == "no")
        air.open(strap)
        try air.expect(1)
    }

    @Test(
        "closed while bluetoothd is away, its trust is taken when that is back, and so it is where an earlier life could not"
    )
    func closesAway() throws {
        for isEarlier in [false, true] {
            let air = try Air()
            if isEarlier {
                air.sessions[strap] = .closed
                try air.tell("adapter hci0", "peripheral 1 hci0", "live")
            } else {
                try air.populate(1)
                try air.replaceBluez()
                try air.turn { air.connected.isEmpty }
                air.close(strap)
                try air.tell("adapter hci0", "peripheral 1 hci0", "live")
            }
            try air.turn { (try? air.bluez.tell("trusted 1")) == "no" }
            try air.pass(.milliseconds(200))
            #expect(air.connected.isEmpty && air.sessions[strap] == .closed)
            #expect(try air.bluez.tell("calls DisconnectTrusted") == "0")
            air.open(strap)
            try air.expect(1)
        }
    }

    @Test("opened while bluetoothd is away, it is trusted and dialled when that is back, also by the next bridge")
    func opensAway() throws {
        for isByNext in [false, true] {
            let air = try closed()
            try air.replaceBluez()
            air.open(strap)
            try air.pass(.milliseconds(50))
            if isByNext { try air.replaceBridge() }
            try air.tell("adapter hci0", "peripheral 1 hci0", "set 1 Trusted no", "live")
            try air.expect(1)
            try air.turn { (try? air.bluez.tell("trusted 1")) == "yes" && air.awaitedTrust.isEmpty }
        }
    }

    @Test("one that could not be trusted when it was opened is trusted with the next word of it")
    func opensAgain() throws {
        let air = try closed()
        try air.tell("fault Set failed")
        air.open(strap)
        try air.turn { (try? air.bluez.tell("calls Set")) == "2" }
        try air.pass(.milliseconds(50))
        #expect(air.awaitedTrust == [strap])
        try air.tell("set 1 Alias Chest")
        try air.expect(1)
        try air.turn { air.awaitedTrust.isEmpty }
    }

    @Test("closed where its trust could not be taken, it is taken with the next word of it, and its link with it")
    func closesAgain() throws {
        let air = try Air()
        try air.populate(1)
        try air.tell("fault Set failed")
        air.close(strap)
        // The kernel brings back what is trusted.
        try air.turn { (try? air.bluez.tell("trusted 1")) == "no" }
        try air.pass(.milliseconds(300))
        #expect(air.connected.isEmpty && air.source?.watched[strap]?.machine.facts.isConnected == false)
    }

    @Test("opened after its trust was withdrawn while it was connected, it is dialled")
    func opensUntrusted() throws {
        var patience = LinkTimeouts()
        patience.beforeConnect = .milliseconds(5)
        let air = try Air(patience: patience)
        try air.populate(1)
        try air.tell("set 1 Trusted no")
        try air.turn { air.connected.isEmpty }
        try air.pass(.milliseconds(200))
        air.open(strap)
        try air.expect(1)
        #expect(try air.bluez.tell("calls Connect") == "1")
    }

    @Test("closed, and trusted by hand since, it is open again, and is not connected and disconnected for ever")
    func opensForTrust() throws {
        let air = try closed()
        try air.tell("set 1 Trusted yes")
        try air.expect(1)
        #expect(air.sessions[strap] == nil)
        #expect(try air.bluez.tell("calls Disconnect") == "1")
    }

    @Test("closed, the link that another program makes stays up")
    func leavesForeign() throws {
        let air = try closed()
        try air.tell("up 1")
        try air.pass(.milliseconds(200))
        #expect(try air.bluez.tell("calls Disconnect") == "1")
        #expect(air.source?.watched[strap]?.machine.facts.isConnected == true && air.connected.isEmpty)
    }
}
