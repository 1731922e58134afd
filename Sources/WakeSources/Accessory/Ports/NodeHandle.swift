// An open node as the thread that opened it hands it to the loop. Opening a node may take seconds: drivers ask the device, and
// wait for its answer.
import WakeModel
import WakeSystem

/// Owns the descriptor: it is closed when nobody has the handle any more, be it a loop that did not wait for it.
protocol NodeHandle: Sendable {
    /// What the loop makes of it.
    func begin(_ plan: AccessoryPlan, at now: Instant) throws(SystemError) -> any OpenNode
}

/// Opens the node that a plan asks for, on whatever thread.
typealias NodeOpener = @Sendable (_ path: String, _ plan: AccessoryPlan) throws(SystemError) -> any NodeHandle

enum Nodes {
    static func open(_ path: String, _ plan: AccessoryPlan) throws(SystemError) -> any NodeHandle {
        switch plan.node {
        case .serial: try SerialHandle(opening: path, plan)
        case .hid: try HidHandle(opening: path)
        case .input: try InputHandle(opening: path, plan)
        case .none: throw SystemError("open", path, .invalid, advice: "its profile opens no node")
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
        try InputNode(self, at: now)
    }
}
