// Commands to the kernel's Bluetooth management, on a pair of sockets whose other end answers as the kernel does.
import Glibc
import Testing

@testable import WakeSystem

@Suite("The Bluetooth management channel") struct ManagementSocketTests {
    /// What the kernel said before it was asked, and what the command brought; then the command as it was sent.
    private func ask(
        _ packets: [[UInt8]], _ opcode: UInt16 = 0x0014, _ parameters: [UInt8] = [1, 2, 3, 4, 5, 0xc6, 2]
    ) throws -> (status: UInt8?, sent: [UInt8]) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        let kernel = FileDescriptor(owning: ends[0])
        let socket = ManagementSocket(owning: FileDescriptor(owning: ends[1]))
        for packet in packets { _ = try kernel.send(packet[...]) }
        let status = try socket.command(opcode, of: 2, parameters)
        var sent = [UInt8](repeating: 0, count: 64)
        guard case .bytes(let count) = try kernel.read(into: &sent) else { return (status, []) }
        return (status, Array(sent[..<count]))
    }

    @Test("a command names its controller, and what is answered to others is read over")
    func commands() throws {
        let found: [UInt8] = [0x12, 0, 2, 0, 4, 0, 0x14, 0, 9, 9]
        let stranger: [UInt8] = [1, 0, 2, 0, 3, 0, 0x13, 0, 7]
        let answer: [UInt8] = [1, 0, 2, 0, 10, 0, 0x14, 0, 2, 1, 2, 3, 4, 5, 0xc6, 2]
        let (status, sent) = try ask([found, stranger, [1], answer])
        #expect(status == 2)
        #expect(sent == [0x14, 0, 2, 0, 7, 0, 1, 2, 3, 4, 5, 0xc6, 2])
    }

    @Test("a refusal without more is a status too, and a kernel that is still at work gives none")
    func refusals() throws {
        #expect(try ask([[2, 0, 2, 0, 3, 0, 0x14, 0, 0x14]]).status == 0x14)
        #expect(try ask([]).status == nil)
    }

    @Test("a controller that is called switched on, and shows by its settings that it is not, is busy")
    func power() throws {
        let (isOff, isOn): ([UInt8], [UInt8]) = ([0, 0x0a, 0, 0], [1, 0x0a, 0, 0])
        let done: [UInt8] = [1, 0, 2, 0, 7, 0, 5, 0, 0]
        #expect(try ask([done + isOff], 5, [1]).status == 0x0a)
        #expect(try ask([done + isOn], 5, [1]).status == 0)
        #expect(try ask([done + isOff], 5, [0]).status == 0)
    }

    @Test("where the channel cannot be had, the sentence says so", .enabled(if: !kernelHasBluetooth, "it is to be had"))
    func absent() {
        #expect { _ = try ManagementSocket().command(0x0001, of: 0xffff, []) } throws: { error in
            "\(error)".contains("the Bluetooth management channel")
        }
    }
}
