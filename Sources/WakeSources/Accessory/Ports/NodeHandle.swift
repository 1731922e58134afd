// An open node as its opener hands it to the loop, and the opener of those in /dev. That may take seconds: drivers
// query the device, and wait for its answer.
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the descriptor: it is closed with the last reference to the handle, also where the loop did not wait for it.
protocol NodeHandle: Sendable {
    /// Makes the node that the loop reads.
    func begin(_ plan: AccessoryPlan, at now: Instant) throws(SystemError) -> any OpenNode
}

/// Opens the node of a plan, and does not block.
protocol NodeOpener: AnyObject {
    /// Begins to open the node at `place`. `answer` is called once and later, on the loop, unless the opening is
    /// dropped before.
    func open(
        _ place: String, _ plan: AccessoryPlan, _ answer: @escaping (Result<any NodeHandle, PortRefusal>) -> Void
    ) throws(PortRefusal) -> NodeOpening
}

/// A node that is being opened, for as long as this is kept: a node that is opened later is closed.
final class NodeOpening {
    private let giveUp: () -> Void

    init(giveUp: @escaping () -> Void) { self.giveUp = giveUp }

    deinit { giveUp() }
}

/// Opens nodes in /dev, each on a thread of its own.
final class NodeFiles: NodeOpener {
    typealias Body = @Sendable (_ path: String, _ plan: AccessoryPlan) throws(SystemError) -> any NodeHandle

    private let loop: EventLoop
    private let body: Body

    init(on loop: EventLoop, by body: @escaping Body = NodeFiles.node) {
        self.loop = loop
        self.body = body
    }

    func open(
        _ path: String, _ plan: AccessoryPlan, _ answer: @escaping (Result<any NodeHandle, PortRefusal>) -> Void
    ) throws(PortRefusal) -> NodeOpening {
        do throws(SystemError) {
            let body = body
            let job = try BackgroundJob<Result<any NodeHandle, PortRefusal>> {
                do throws(SystemError) { return .success(try body(path, plan)) } catch {
                    return .failure(PortRefusal(error))
                }
            }
            let watch = try loop.watch(job.raw, for: .readable, cause: .accessory) { _ in
                if let opened = job.removeResult() { answer(opened) }
            }
            return NodeOpening { watch.cancel() }
        } catch {
            throw PortRefusal(error)
        }
    }

    static func node(_ path: String, _ plan: AccessoryPlan) throws(SystemError) -> any NodeHandle {
        switch plan.node {
        case .serial: try SerialHandle(opening: path, plan)
        case .hid: try HidHandle(opening: path)
        case .input: try InputHandle(opening: path, plan)
        case .rfcomm, .none: throw SystemError("open", path, .invalid, advice: "its profile opens no node of /dev")
        }
    }
}

final class SerialHandle: NodeHandle {
    let port: SerialPort

    init(opening path: String, _ plan: AccessoryPlan) throws(SystemError) {
        port = try SerialPort(opening: path, plan.line, isExclusive: plan.sharing == .exclusive)
    }

    func begin(_ plan: AccessoryPlan, at now: Instant) -> any OpenNode { SerialNode(self, plan) }
}

extension RfcommChannel: NodeHandle {
    func begin(_ plan: AccessoryPlan, at now: Instant) -> any OpenNode { SerialNode(self, plan) }
}

final class HidHandle: NodeHandle {
    let node: HidrawNode

    init(opening path: String) throws(SystemError) { node = try HidrawNode(opening: path) }

    func begin(_ plan: AccessoryPlan, at now: Instant) -> any OpenNode { HidNode(self, at: now) }
}

final class InputHandle: NodeHandle {
    let node: EvdevNode

    init(opening path: String, _ plan: AccessoryPlan) throws(SystemError) {
        node = try EvdevNode(opening: path, isExclusive: plan.sharing == .exclusive)
    }

    func begin(_ plan: AccessoryPlan, at now: Instant) throws(SystemError) -> any OpenNode {
        try InputNode(self, typingPause: plan.typingPause, at: now)
    }
}
