// A peripheral that is asked, on a real bus with a scripted bluetoothd: how questions are written, and when none are.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

@Suite("Bluetooth source that asks", .serialized)
struct SourceAskingTests {
    private static let pack = Channel.characteristic(BluetoothUUID(short: 0xfff2))
    private static let uri = "/bluetooth/C0:DE:00:00:00:01"

    /// With one peripheral that says four bytes in two pieces to each of two questions.
    private func air() throws -> Air {
        let air = try Air()
        air.framing = .fixed(4)
        air.questions = AskPlan(
            start: [.init(to: Self.pack, bytes: [0])],
            poll: [.init(.init(to: Self.pack, bytes: [0xa5]), every: .milliseconds(100))])
        try air.tell("adapter hci0", "peripheral 1 hci0", "pack 1", "teach 1 00 0102 0304", "teach 1 a5 05 060708")
        return air
    }

    @Test("its start is asked by a command, as it takes nothing else; polls begin and end with a handler's wake")
    func asks() throws {
        let air = try air()
        try air.tell("live")
        try air.expect(1)
        try air.expectValues(1)
        #expect(try air.bluez.tell("asked 1") == "00/command")
        #expect(air.source?.needsWanted == true)
        air.source?.setWanted(true, Self.uri)
        try air.turn { air.values >= 3 }
        #expect(try air.bluez.tell("asked 1").hasPrefix("a5/command"))
        air.source?.setWanted(false, Self.uri)
        #expect(try air.comesToRest(), "it polls although no handler is awake")
    }

    @Test("a handler that is awake already is known at the first connect, and the start comes before the poll")
    func isAwake() throws {
        let air = try air()
        air.wanted = [Self.uri]
        try air.tell("live")
        try air.expect(1)
        try air.turn { air.values >= 2 }
        #expect(try air.bluez.tell("asked 1").hasPrefix("00/command a5/command"))
    }

    @Test("why it cannot be asked is told to who asks what is wrong with it")
    func cannot() throws {
        let air = try air()
        air.questions = AskPlan(start: [.init(to: .characteristic(BluetoothUUID(short: 0xfff3)), bytes: [0])])
        try air.tell("live")
        try air.expect(1)
        #expect(air.source?.blockingReason(of: Self.uri)?.hasSuffix("it has no characteristic fff3") == true)
        #expect(try air.comesToRest())
        #expect(try air.bluez.tell("asked 1") == "")
    }
}
