// What the source asks of the kernel over bluetoothd's head, and when, with a bus and a bluetoothd of its own.
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

extension SourceTests {
    /// The parameters of a command for a peripheral: its address, the last byte first, and that it is a random one.
    private func peer(_ number: UInt8) -> [UInt8] { Air.address(number) + [2] }

    @Test("when bluetoothd dies the kernel lets go of each of its links, and waits for none of them")
    func letsGo() throws {
        let air = try Air()
        air.kernelStatus = [0]
        try air.populate(2)
        #expect(air.orders.isEmpty)
        try air.replaceBluez()
        try air.turn { air.connected.isEmpty }
        let orders = air.orders.sorted { ($0.bytes[0], $1.opcode) < ($1.bytes[0], $0.opcode) }
        #expect(orders.map(\.opcode) == [0x34, 0x14, 0x34, 0x14])
        #expect(orders.map(\.bytes) == [peer(1), peer(1), peer(2), peer(2)])
        #expect(orders.allSatisfy { $0.controller == 0 })
        try air.populate(2)
        #expect(air.orders.count == 4)
    }

    @Test("a kernel that ends another link just then is asked again")
    func waitsItsTurn() throws {
        let air = try Air()
        air.kernelStatus = [0, 0x0a, 0x0a, 0]
        try air.populate(1)
        try air.replaceBluez()
        try air.turn { air.orders.count == 4 }
        #expect(air.orders.map(\.opcode) == [0x34, 0x14, 0x14, 0x14])
        try air.pass(.milliseconds(100))
        #expect(air.orders.count == 4)
    }

    @Test("when the next bluetoothd is there, nothing of the last one's links is ended any more")
    func abandons() throws {
        let air = try Air()
        air.kernelStatus = [0, 0x0a]
        try air.populate(1)
        try air.replaceBluez()
        try air.turn { air.orders.count > 2 }
        try air.populate(1)
        let count = air.orders.count
        try air.pass(.milliseconds(100))
        #expect(air.orders.count == count)
    }

    @Test("when the bus dies too, bluetoothd may still run, so its links are left alone")
    func leavesAlone() throws {
        let air = try Air()
        try air.populate(1)
        try air.replaceBus()
        #expect(air.orders.isEmpty)
    }

    @Test("a link older than its bluetoothd is cut by the kernel at once; where it may not, bluetoothd takes it down")
    func cuts() throws {
        let air = try Air()
        try air.populate(1)
        try air.passConnection(1)
        try air.settle()
        try air.replaceBluez()
        try air.turn { air.connected.isEmpty }
        #expect(air.orders.map(\.opcode) == [0x34, 0x14])
        try air.tell("adapter hci0", "peripheral 1 hci0 leftover", "live")
        try air.turn { air.orders.count == 3 }
        try air.pass(0x05, [0, 1, 0, 0x16])
        try air.expect(1)
        #expect(air.orders.map(\.opcode) == [0x34, 0x14, 0x14])
        #expect(try air.bluez.tell("calls Disconnect") == "1")
    }

    @Test("a link that came after bluetoothd's name and before its objects is cut, where it is not taken up at once")
    func cutsDoubtful() throws {
        let air = try Air()
        try air.populate(1)
        try air.replaceBluez()
        try air.turn { air.connected.isEmpty }
        let count = air.orders.count
        try air.tell("adapter hci0", "peripheral 1 hci0 leftover", "fault GetManagedObjects failed", "live")
        try air.turn { air.source?.client.owner.isEmpty == false }
        try air.passConnection(1)
        try air.turn { air.orders.count > count }
        #expect(air.orders.suffix(1).map(\.opcode) == [0x14])
        try air.pass(0x05, [0, 1, 0, 0x16])
        try air.expect(1)
    }

    @Test("a link that came before the bridge, and after bluetoothd for all it knows, is waited for and not cut")
    func leavesLinksOfOthers() throws {
        let air = try Air()
        air.kernelStatus = [0]
        try air.tell("adapter hci0", "peripheral 1 hci0 leftover", "live")
        try air.turn { air.source?.watched.count == 1 }
        try air.passConnection(1)
        try air.settle()
        try air.replaceBridge()
        try air.turn { air.source?.watched.values.first?.machine.facts.isUp == true }
        try air.pass(.milliseconds(300))
        #expect(air.orders.isEmpty)
        #expect(try air.bluez.tell("calls Disconnect") == "0")
    }

    @Test("a peripheral that cannot be encrypted is told of once, and blocked in the kernel and in bluetoothd")
    func blocks() throws {
        let air = try Air()
        try air.populate(2)
        try air.passConnection(2)
        try air.pass(0x08, [0x06, 2, 0, 0])
        try air.pass(0x05, [0, 2, 0, 0x16])
        try air.turn { air.isBlocked(2) }
        #expect(air.attentions == [.bondInvalid])
        #expect(air.orders.prefix(2).map(\.opcode) == [0x34, 0x26])
        // By the controller's number of a random address, as the kernel looks it up.
        #expect(air.orders.prefix(2).map(\.bytes) == [peer(2), Air.address(2) + [1]])
        #expect(!air.isBlocked(1))
        // The next bluetoothd has not kept it.
        try air.replaceBluez()
        try air.turn { air.connected.isEmpty }
        try air.tell("adapter hci0", "peripheral 1 hci0", "peripheral 2 hci0", "live")
        try air.turn { air.isBlocked(2) }
        #expect(air.attentions == [.bondInvalid])
        try air.pass(.milliseconds(50))
        try air.tell("set 2 Blocked no")
        try air.turn { air.orders.last?.opcode == 0x33 }
        #expect(air.orders.suffix(2).map(\.opcode) == [0x27, 0x33])
        #expect(air.orders.suffix(2).map(\.bytes) == [Air.address(2) + [1], peer(2) + [2]])
    }

    @Test(
        "what is blocked is blocked again while a bluetoothd begins, which has the kernel unblock all, until it is unblocked"
    )
    func blocksAgain() throws {
        let air = try Air()
        air.kernelStatus = [0]
        try air.populate(1)
        try air.tell("set 1 Blocked yes")
        try air.turn { air.orders.count >= 8 }
        #expect(air.orders.prefix(8).map(\.opcode) == [0x34, 0x26, 0x34, 0x26, 0x34, 0x26, 0x34, 0x26])
        try air.tell("set 1 Blocked no")
        try air.turn { air.orders.last?.opcode == 0x33 }
        let count = air.orders.count
        try air.pass(.milliseconds(100))
        #expect(air.orders.count == count)
    }
}

extension Air {
    /// As bluetoothd says.
    func isBlocked(_ number: UInt8) -> Bool {
        let peripherals = source?.client.mirror.peripherals.values
        return peripherals?.first { $0.address.hasSuffix([number].hexadecimal.uppercased()) }?.isBlocked ?? false
    }
}
