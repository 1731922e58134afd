// Sends commands to the kernel without bluetoothd. It ends links that a dead bluetoothd left, blocks peripherals whose
// bonds are invalid, and resets a controller that has stalled.
import WakeLoop
import WakeModel
import WakeSystem

public final class MgmtClient {
    /// A peripheral as the kernel knows it, by its identity address.
    public struct Peer: Hashable, Sendable {
        /// `hci0` is 0.
        var controller: UInt16
        var address: String
        var hasPublicAddress: Bool
    }

    public enum Order: UInt16, Sendable {
        case disconnect = 0x0014
        /// No program begins a connection to it any more; one that is up, or just coming, is not ended.
        case block = 0x0026
        case unblock = 0x0027
        /// It is connected whenever it advertises.
        case wait = 0x0033
        case stopWaiting = 0x0034
    }

    private struct Command {
        var opcode: UInt16
        var controller: UInt16
        var parameters: [UInt8]

        init(opcode: UInt16, controller: UInt16, parameters: [UInt8]) {
            (self.opcode, self.controller, self.parameters) = (opcode, controller, parameters)
        }

        var isSwitchOn: Bool { opcode == MgmtClient.setPowered && parameters == [1] }

        init?(_ order: Order, _ peer: Peer) {
            guard let parameters = peer.parameters(of: order) else { return nil }
            self.init(opcode: order.rawValue, controller: peer.controller, parameters: parameters)
        }
    }

    private struct Waiting {
        var command: Command
        /// Another bluetoothd makes it pointless.
        var isOfLinks = true
        var tries = 0
        var answer: (LinkFailure?) -> Void
    }

    private let command: (UInt16, UInt16, [UInt8]) throws(SystemError) -> UInt8?
    private var timer: Timer?
    private var waiting: [Waiting] = []
    /// The blocked peripherals, and until when the command is repeated.
    private var blocked: [Peer: Instant] = [:]
    private var wasToldRefusal = false

    private static let pause = TimeSpan.milliseconds(25)
    private static let mostTries = 80
    /// A controller that is given its firmware takes seconds.
    private static let mostPowerTries = 400
    /// A second: an end that takes longer is cut short.
    private static let mostTriesAtEnd = 40
    private static let setPowered: UInt16 = 0x0005
    /// Longer than any bluetoothd takes to begin.
    private static let blockingTime = TimeSpan.seconds(10)

    public convenience init(on loop: EventLoop) throws(SystemError) {
        try self.init(on: loop) { opcode, controller, parameters throws(SystemError) in
            try ManagementSocket().command(opcode, of: controller, parameters)
        }
    }

    package init(
        on loop: EventLoop, _ command: @escaping (UInt16, UInt16, [UInt8]) throws(SystemError) -> UInt8?
    ) throws(SystemError) {
        self.command = command
        timer = try loop.timer(on: .monotonic, of: self) { $0.retry() }
    }

    /// The answer is nil where it is done, or under way. The kernel ends one link of a controller at a time, so others wait.
    func perform(_ order: Order, on peer: Peer, _ answer: @escaping (LinkFailure?) -> Void) {
        guard let command = Command(order, peer) else { return answer(.other("its address is not known")) }
        attempt(Waiting(command: command, answer: answer))
    }

    /// Switches the controller off and on, and ends all its links with that. The kernel refuses the second while the first is at
    /// work, so that it waits its turn.
    func restart(_ controller: UInt16, _ answer: @escaping (LinkFailure?) -> Void) {
        power(controller, isOn: false) { [weak self] failure in
            guard let self, failure == nil else { return answer(failure) }
            power(controller, isOn: true, answer)
        }
    }

    private func power(_ controller: UInt16, isOn: Bool, _ answer: @escaping (LinkFailure?) -> Void) {
        let command = Command(opcode: Self.setPowered, controller: controller, parameters: [isOn ? 1 : 0])
        attempt(Waiting(command: command, isOfLinks: false, answer: answer))
    }

    /// A starting bluetoothd makes the kernel unblock all, some time after it has shown its peripherals, and wait for
    /// them again. If only bluetoothd blocks a peripheral, the kernel loses its link as soon as that is up. The
    /// peripheral would then have a link without an end, and not advertise until the controller is reset.
    func keepBlocked(_ peer: Peer) {
        blocked[peer] = SystemClock.monotonic() + Self.blockingTime
        blockAgain()
    }

    func unblock(_ peer: Peer) {
        blocked[peer] = nil
        perform(.unblock, on: peer) { _ in }
    }

    /// Drops waiting commands for links: another bluetoothd has come, and the links may be its own.
    func abandon() {
        let abandoned = waiting.filter(\.isOfLinks)
        waiting.removeAll(where: \.isOfLinks)
        if waiting.isEmpty, blocked.isEmpty { timer?.disarm() }
        for one in abandoned { one.answer(.other("it came too late")) }
    }

    /// The bridge ends. A controller that was switched off to be switched on again is not left off: bluetoothd would not switch
    /// it on, and neither would the next bridge.
    func end() {
        var left = waiting.filter(\.command.isSwitchOn)
        waiting = []
        timer?.disarm()
        for _ in 0..<Self.mostTriesAtEnd {
            left.removeAll { result(of: $0.command) != .inProgress }
            if left.isEmpty { return }
            SystemClock.pause(Self.pause)
        }
    }

    private func retry() {
        let due = waiting
        waiting = []
        for one in due { attempt(one) }
        blockAgain()
    }

    private func blockAgain() {
        let now = SystemClock.monotonic()
        blocked = blocked.filter { $0.value > now }
        for command in blocked.keys.flatMap({ [Command(.stopWaiting, $0), Command(.block, $0)] }) {
            _ = command.map(result(of:))
        }
        if wasToldRefusal { blocked = [:] }
        if !blocked.isEmpty { timer?.arm(at: now + Self.pause) }
    }

    private func attempt(_ one: Waiting) {
        let failure = result(of: one.command)
        let mostTries = one.isOfLinks ? Self.mostTries : Self.mostPowerTries
        guard failure == .inProgress, one.tries < mostTries else { return one.answer(failure) }
        var next = one
        next.tries += 1
        waiting.append(next)
        timer?.arm(at: SystemClock.monotonic() + Self.pause)
    }

    private func result(of one: Command) -> LinkFailure? {
        do throws(SystemError) {
            switch try command(one.opcode, one.controller, one.parameters) {
            // A command that is under way while the controller is still being switched off is lost, and answered as
            // done. The controller is on when the kernel confirms it at once.
            case nil where one.isSwitchOn: return .inProgress
            case nil, 0: return nil
            case 0x02: return .notConnected
            case 0x0a: return .inProgress
            case 0x14: return refuse("the kernel wants CAP_NET_ADMIN for it")
            case let status?: return .other("the kernel answers 0x" + [status].hexadecimal)
            }
        } catch {
            return refuse(error.description)
        }
    }

    private func refuse(_ reason: String) -> LinkFailure {
        if !wasToldRefusal {
            Log("bluetooth").notice(
                "links that a dead bluetoothd leaves are ended by the next one, 2 s later: \(reason)")
        }
        wasToldRefusal = true
        return .other(reason)
    }
}

extension MgmtClient {
    /// The index of the adapter at this path.
    static func index(of path: String) -> UInt16? {
        guard let name = path.split(separator: "/").last, name.hasPrefix("hci") else { return nil }
        return UInt16(name.dropFirst(3))
    }
}

extension MgmtClient.Peer {
    /// - Parameter path: the adapter's object path, whose last word is the kernel's name for it.
    init?(_ address: String, isPublic: Bool, on path: String) {
        guard let index = MgmtClient.index(of: path) else { return nil }
        self.init(controller: index, address: address, hasPublicAddress: isPublic)
    }

    /// The address, the last byte first, and its type: 1 public, 2 random. But when a connection begins, the kernel
    /// searches its block list by the controller's numbers, 0 and 1. Up to 6.1 at least it never finds entries with its
    /// own numbers, and loses a link that comes up nevertheless.
    fileprivate func parameters(of order: MgmtClient.Order) -> [UInt8]? {
        let bytes = address.split(separator: ":").compactMap { UInt8($0, radix: 16) }
        guard bytes.count == 6 else { return nil }
        let type: UInt8 = hasPublicAddress ? 1 : 2
        switch order {
        case .disconnect, .stopWaiting: return bytes.reversed() + [type]
        case .wait: return bytes.reversed() + [type, 2]
        case .block, .unblock: return bytes.reversed() + [type - 1]
        }
    }
}
