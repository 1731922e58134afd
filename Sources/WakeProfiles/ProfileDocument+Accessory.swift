// The keys of a profile that say which node of an accessory is opened, how, and when it is released.
import WakeModel

extension ProfileDocument {
    static let accessoryKeys = ["node", "serial", "framing", "sharing", "on_suspend", "settle", "replug_grace"]
    static let lineKeys = ["baud", "data_bits", "parity", "stop_bits", "flow", "dtr", "rts"]

    /// Nil, and reported, where the node cannot be determined.
    static func accessory(of object: ConfigurationObject) -> AccessoryPlan? {
        let node = node(of: object)
        var plan = AccessoryPlan(node: node ?? .none)
        plan.line = line(of: object) ?? plan.line
        if let framing = framing(of: object) { (plan.framing, plan.frameLimit) = framing }
        plan.sharing = object.word("sharing") ?? plan.sharing
        plan.onSuspend = object.word("on_suspend") ?? plan.onSuspend
        plan.settle = object.span("settle", in: .zero ... .seconds(60)) ?? plan.settle
        plan.replugGrace = object.span("replug_grace", in: .zero ... .seconds(60)) ?? plan.replugGrace
        guard let node else { return nil }
        checkKeysFit(node, in: object)
        return plan
    }

    /// The named node, or else the one whose streams are listed.
    private static func node(of object: ConfigurationObject) -> AccessoryNode? {
        let streams = streamNodes(of: object)
        guard object.has("node") else { return node(telling: streams, in: object) }
        guard let node = object.word("node", as: AccessoryNode.self) else { return nil }
        for stream in streams where stream.node.map({ $0 != node.streams }) ?? false {
            let other = stream.node.map(\.rawValue) ?? ""
            object.report.add(
                "node is \"\(node.rawValue)\", but streams has \"\(stream.key)\", which comes from node \"\(other)\"; "
                    + "change one of the two")
            return nil
        }
        return node
    }

    private typealias StreamNode = (key: String, node: AccessoryNode?)

    private static func node(telling streams: [StreamNode], in object: ConfigurationObject) -> AccessoryNode? {
        guard let first = streams.first else {
            object.report.add(
                "node is missing, and no stream tells it; write node: \"serial\", \"hid\" or \"input\", \"rfcomm\" for a "
                    + "serial port over Bluetooth, or \"none\" where nothing is to be opened")
            return nil
        }
        if let other = streams.first(where: { $0.node != first.node }), other.node != nil, first.node != nil {
            object.report.add(
                "streams has \"\(first.key)\" and \"\(other.key)\", which come from different nodes; keep those of one "
                    + "node, and write a second profile for the other")
            return nil
        }
        return first.node
    }

    /// The keys of `streams`, each with its node; nil for a name that is no stream, which is reported.
    private static func streamNodes(of object: ConfigurationObject) -> [StreamNode] {
        guard case .object(let members) = object.value("streams") else { return [] }
        return members.map(\.name).sorted().map { key in
            switch channel(key, kind: .externalAccessory) {
            case .serial: (key, .serial)
            case .report: (key, .hid)
            case .input: (key, .input)
            case .characteristic, .fragment, .stream, nil: (key, nil)
            }
        }
    }

    private static func checkKeysFit(_ node: AccessoryNode, in object: ConfigurationObject) {
        let serialKeys = node == .rfcomm ? ["serial"] : ["serial", "framing"]
        for key in serialKeys where node != .serial && object.has(key) {
            object.report.add("\(key) does not fit node \"\(node.rawValue)\"; remove it or write node: \"serial\"")
        }
        guard let why = node.whyAlone else { return }
        for key in ["sharing", "on_suspend"] where object.has(key) {
            object.report.add("\(key) does not fit node \"\(node.rawValue)\", \(why); remove it")
        }
    }

    /// A serial port over Bluetooth: bluetoothd announces it, and the bridge connects it.
    static func isCalled(_ object: ConfigurationObject) -> Bool {
        object.value("node") == .string(AccessoryNode.rfcomm.rawValue)
    }

    private static func line(of object: ConfigurationObject) -> LineSettings? {
        guard let found = object.object("serial", keys: lineKeys) else { return nil }
        var line = LineSettings()
        line.baud = found.integer("baud", in: 50...12_000_000) ?? line.baud
        line.dataBits = found.integer("data_bits", in: 5...8) ?? line.dataBits
        line.parity = found.word("parity") ?? line.parity
        line.stopBits = found.integer("stop_bits", in: 1...2) ?? line.stopBits
        line.flow = found.word("flow") ?? line.flow
        line.dtr = found.word("dtr") ?? line.dtr
        line.rts = found.word("rts") ?? line.rts
        if line.flow == .hardware, line.rts != .untouched {
            found.report.add(
                "serial.rts does not fit flow \"hardware\", which moves RTS by itself; remove one of the two")
        }
        return line
    }
}

extension AccessoryNode {
    /// The node that has the same streams.
    fileprivate var streams: AccessoryNode { self == .rfcomm ? .serial : self }

    /// Why `sharing` and `on_suspend` do not fit it; nil where they do.
    fileprivate var whyAlone: String? {
        switch self {
        case .serial, .hid, .input: nil
        case .rfcomm: "which no other program can open"
        case .none: "of which nothing is opened"
        }
    }
}
