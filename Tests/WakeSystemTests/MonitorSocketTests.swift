// The monitor channel's filter and reading, on a pair of sockets that carry its packets: the kernel's filter needs no radio.
import Glibc
import Testing

@testable import WakeSystem

@Suite("The Bluetooth monitor channel") struct MonitorSocketTests {
    private func packet(_ opcode: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [opcode, 0, 0, 0, UInt8(bytes.count), 0] + bytes
    }

    /// What arrives of what is sent.
    private func passed(_ packets: [[UInt8]], linksOnly: Bool) throws -> [[UInt8]] {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0)
        let sending = FileDescriptor(owning: ends[0])
        let receiving = FileDescriptor(owning: ends[1])
        try MonitorSocket.prepare(receiving, linksOnly: linksOnly)
        for bytes in packets { _ = try sending.send(bytes[...]) }
        var socket = MonitorSocket(owning: receiving, packetBytes: 512)
        var arrived: [[UInt8]] = []
        while let record = try socket.receive() {
            arrived.append(record.bytes)
            #expect(abs(record.time.microseconds - SystemClock.wall().microseconds) < 60_000_000)
        }
        return arrived
    }

    private var wanted: [[UInt8]] {
        [
            packet(0, [UInt8](repeating: 0, count: 16)), packet(1, []), packet(10, [UInt8](repeating: 0, count: 8)),
            packet(3, [0x05, 4, 0, 0x40, 0, 0x13]), packet(3, [0x3e, 19, 0x01, 0]), packet(3, [0x3e, 31, 0x0a, 0]),
            packet(3, [0x3e, 32, 0x29, 0]), packet(3, [0x08, 4, 0x06, 0x40, 0, 0]),
            packet(3, [0x59, 5, 0x05, 0x40, 0]),
            packet(3, [0x30, 3, 0x06, 0x40, 0]), packet(3, [0x0f, 4, 0x09, 1, 0x0d, 0x20]),
            packet(3, [0x0f, 4, 0x0d, 1, 0x43, 0x20]), packet(17, [1, 0, 0, 0, 0x0b, 0, 1]),
            packet(2, [0x0c, 0x20, 2, 1, 1]), packet(2, [0x42, 0x20, 6, 1, 1, 0, 0, 0, 0]),
        ]
    }

    private var unwanted: [[UInt8]] {
        [
            packet(2, [0x05, 0x0c, 0]), packet(2, [0x0c, 0x20, 2, 0, 1]), packet(2, [0x42, 0x20, 6, 0, 1, 0, 0, 0, 0]),
            packet(2, [0x0d, 0x20, 25, 1]), packet(2, [0x0c]), packet(4, [0x3e, 0, 0x01]), packet(5, [0x05, 4, 0]),
            packet(8, []),
            packet(12, Array("note".utf8)), packet(16, [0, 0]), packet(3, [0x0e, 4, 1]),
            packet(3, [0x3e, 30, 0x02, 1]),
            packet(3, [0x08, 4, 0, 0x40, 0, 1]), packet(3, [0x59, 5, 0, 0x40]), packet(3, [0x0f, 4, 0, 1, 0x0d, 0x20]),
            packet(17, [1, 0, 0, 0, 0x0c, 0, 1]), packet(17, [1, 0]), packet(3, [0x08]), packet(3, [0x0f]),
            packet(3, [0x3e, 30, 0x0d, 1]), packet(3, [0x03, 11, 0]), packet(3, []), packet(3, [0x3e]), [3, 0], [],
        ]
    }

    @Test("with the filter only packets about links and controllers wake the reader")
    func filters() throws {
        let mixed = zip(wanted + wanted, unwanted + unwanted).flatMap { [$1, $0] }
        #expect(try passed(mixed, linksOnly: true) == wanted + wanted)
    }

    @Test("without the filter everything arrives, byte for byte")
    func carries() throws {
        #expect(try passed(wanted + unwanted, linksOnly: false) == wanted + unwanted)
    }

    @Test(
        "where the channel cannot be had, the sentence says why and what to do",
        .enabled(if: !kernelHasBluetooth, "it is to be had"))
    func refuses() {
        #expect { _ = try MonitorSocket(linksOnly: true) } throws: { error in
            let sentence = "\(error)"
            return sentence.contains("the Bluetooth monitor channel")
                && (sentence.contains("this kernel has no Bluetooth") || sentence.contains("CAP_NET_RAW"))
        }
    }
}

/// Whether sockets of the family can be made at all: without, both channels are refused.
let kernelHasBluetooth: Bool = {
    let descriptor = socket(31, Int32(SOCK_RAW.rawValue), 1)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
}()
