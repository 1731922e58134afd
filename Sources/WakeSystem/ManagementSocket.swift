// The kernel's Bluetooth management channel, open only for one command: an open channel wakes its owner for the events of
// every program's commands. Needs CAP_NET_ADMIN.
import CBluetooth
import Glibc
import WakeModel

public struct ManagementSocket: ~Copyable {
    private let descriptor: FileDescriptor

    /// Six bytes of header and the longest answer or event that may come before this answer.
    private static let packetBytes = 6 + 512
    /// The most events of other programs that are skipped.
    private static let strangersLimit = 64
    private static let subject = "the Bluetooth management channel"

    public init() throws(SystemError) {
        let made = FileDescriptor(owning: Int32(try attemptC { wake_bluetooth_socket() }.get("open", Self.subject)))
        let number = made.raw
        try attemptC { wake_management_bind(number) }.get("use", Self.subject)
        self.init(owning: made)
    }

    /// Uses a socket that carries packets of the channel.
    package init(owning descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Sends the command and returns the kernel's immediate status: 0 for done; nil where it is still at work, whose end does
    /// not need this socket.
    public borrowing func command(
        _ opcode: UInt16, of controller: UInt16, _ parameters: [UInt8]
    ) throws(SystemError) -> UInt8? {
        let words = [opcode, controller, UInt16(parameters.count)]
        // The returned length is unreliable: some kernels return 0.
        _ = try descriptor.write(words.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } + parameters)
        var packet = [UInt8](repeating: 0, count: Self.packetBytes)
        for _ in 0..<Self.strangersLimit {
            guard case .bytes(let count) = try descriptor.read(into: &packet) else { return nil }
            if let status = Self.status(of: opcode, parameters, in: packet.prefix(count)) { return status }
        }
        return nil
    }

    /// Command Complete and Command Status: the event, the controller, the length, the command, the status.
    private static func status(of opcode: UInt16, _ parameters: [UInt8], in packet: ArraySlice<UInt8>) -> UInt8? {
        guard packet.count >= 9, [1, 2].contains(packet[0]), packet[1] == 0,
            UInt16(packet[6]) | UInt16(packet[7]) << 8 == opcode
        else { return nil }
        return isPowerOtherwise(opcode, parameters, packet) ? busy : packet[8]
    }

    private static let busy: UInt8 = 0x0a
    private static let setPowered: UInt16 = 0x0005

    /// While switching off, the kernel answers that switching on is done; the settings that follow show that it is not.
    private static func isPowerOtherwise(_ opcode: UInt16, _ parameters: [UInt8], _ packet: ArraySlice<UInt8>) -> Bool {
        opcode == setPowered && packet[0] == 1 && packet[8] == 0 && packet.count >= 13
            && packet[9] & 1 != parameters.first
    }
}
