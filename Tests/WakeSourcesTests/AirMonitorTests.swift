// The ear on the monitor channel, on a loop of its own and a pair of sockets that carries the channel's packets.
import Glibc
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

/// The kernel's side of the channel.
private final class Kernel {
    private let end: FileDescriptor

    init(owning raw: Int32) { end = FileDescriptor(owning: raw) }

    func send(_ opcode: UInt8, _ bytes: [UInt8]) throws {
        _ = try end.send(([opcode, 0, 0, 0, UInt8(bytes.count), 0] + bytes)[...])
    }
}

@Suite("The air monitor") struct HCIMonitorTests {
    private let reversed: [UInt8] = [0x01, 0xf4, 0xf3, 0xf2, 0xf1, 0xc0]

    @Test("a controller that is there already is known at once, and a link that ends is told with its reason")
    func tells() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0)
        let kernel = Kernel(owning: ends[0])
        try kernel.send(0, [0, 0] + reversed + Array("hci0\0\0\0\0".utf8))
        let loop = try EventLoop()
        let socket = MonitorSocket(owning: FileDescriptor(owning: ends[1]), packetBytes: 263)
        let monitor = try HCIMonitor(socket, on: loop)
        var drops: [String] = []
        var fellAt: WallTime?
        monitor.onDrop = { address, reason, time in
            drops.append("\(address) \(reason)")
            fellAt = time
        }
        #expect(monitor.controllers.map(\.name) == ["hci0"])
        let body = [0x01, 0x00, 0x40, 0x00, 0x00, 0x01] + reversed + [UInt8](repeating: 0, count: 7)
        try kernel.send(3, [0x3e, UInt8(body.count)] + body)
        let strap = "C0:F1:F2:F3:F4:01"
        let begun = SystemClock.monotonic()
        for _ in 0..<100 where monitor.upSince(strap) == nil { try loop.runOnce(timeout: .milliseconds(20)) }
        #expect(monitor.upSince(strap).map { $0 >= begun } == true)
        var failures: [String] = []
        monitor.onEncryptionFailure = { failures.append("\($0) \($1)") }
        var full: [UInt16] = []
        monitor.onNoRoom = { full.append($0) }
        var signs: [String] = []
        monitor.onConnectFailure = { signs.append("failed \($0)") }
        monitor.onScan = { signs.append("scans \($0)") }
        try kernel.send(3, [0x08, 4, 0x06, 0x40, 0, 0])
        try kernel.send(3, [0x0f, 4, 0x09, 1, 0x0d, 0x20])
        for status in [0x3e, 0x0d] as [UInt8] {
            try kernel.send(3, [0x3e, 19, 0x01, status] + [UInt8](repeating: 0, count: 17))
        }
        try kernel.send(2, [0x0c, 0x20, 2, 1, 1])
        try kernel.send(3, [0x05, 4, 0, 0x40, 0, 0x08])
        for _ in 0..<100 where drops.isEmpty { try loop.runOnce(timeout: .milliseconds(20)) }
        #expect(drops == ["\(strap) timeout"])
        #expect(fellAt.map { abs($0.microseconds - SystemClock.wall().microseconds) < 10_000_000 } == true)
        #expect(failures == ["\(strap) key-missing"])
        #expect(full == [0, 0])
        #expect(signs == ["failed 0", "failed 0", "scans 0"])
        #expect(monitor.upSince(strap) == nil)
    }
}
