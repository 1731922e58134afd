// The limits of a leaf: enables the cgroup controllers that the machine delegates, down to the leaves.
import Glibc

/// The limits of a leaf; nil is unlimited.
public struct LeafLimits: Hashable, Sendable {
    /// Processes and threads (pids.max).
    public var processes: Int?
    /// Bytes of memory (memory.max), and as many of swap.
    public var memory: Int?

    public init(processes: Int? = nil, memory: Int? = nil) { (self.processes, self.memory) = (processes, memory) }
}

/// The refusals at these limits, counted since the leaf was made.
public struct LeafRefusals: Hashable, Sendable {
    /// Processes that could not be started.
    public var processes = 0
    /// Processes that were killed for want of memory.
    public var memory = 0
}

public struct Containment: Hashable, Sendable {
    enum Controller: String, CaseIterable, Sendable {
        case pids, memory
        /// Passed on when it is needed first: it changes how the kernel shares the processor out.
        case cpu

        static let fromTheStart: [Controller] = [.pids, .memory]
    }

    private(set) var controllers: Set<Controller>
    /// The cgroup from which this process moved one level down; nil where it stayed.
    private var left: String?
    /// Why a controller is missing, as a clause; nil where none is.
    public private(set) var blockingReason: String?

    public static let none = Containment(controllers: [], blockingReason: "no cgroup can be made")

    public var limitsProcesses: Bool { controllers.contains(.pids) }
    public var limitsMemory: Bool { controllers.contains(.memory) }

    /// The cgroup that this process moves to where its own must be empty: the kernel passes no memory controller below a
    /// cgroup with processes.
    static let daemonGroup = "wakebridge-daemon"

    private init(controllers: Set<Controller>, blockingReason: String?) {
        self.controllers = controllers
        self.blockingReason = blockingReason
    }

    /// Passes the controllers of `own`, our cgroup, to the leaves of `tree`, directly below it.
    init(passing own: String, to tree: String) {
        let lent = Containment.words(of: "\(own)/cgroup.controllers")
        let wanted = Controller.fromTheStart.filter { lent.contains($0.rawValue) }
        self.init(controllers: [], blockingReason: "\(own) has no such controller")
        guard !wanted.isEmpty else { return }
        do throws(SystemError) {
            if !Containment.isRoot(own) { try makeWay(in: own) }
            for cgroup in [own, tree] { try Containment.enable(wanted, in: cgroup) }
            controllers = Set(wanted)
            if wanted.count == Controller.fromTheStart.count { blockingReason = nil }
        } catch {
            blockingReason = error.description
            withdraw()
            left = nil
        }
    }

    /// Only the root cgroup may have processes and pass controllers on.
    private static func isRoot(_ cgroup: String) -> Bool { !File.exists("\(cgroup)/cgroup.type") }

    /// Moves this process one level down if it is the only one: other programs' processes are not moved.
    private mutating func makeWay(in own: String) throws(SystemError) {
        let group = "\(own)/\(Self.daemonGroup)"
        let processes = try File.text(at: "\(own)/cgroup.procs")
        guard processes == "\(getpid())\n" || processes.isEmpty else {
            throw SystemError(
                "limit handlers below", own, .busy,
                advice: "other processes are in it; start wakebridged as a service of its own")
        }
        try Directory.create(group, mode: 0o755)
        left = own
        try Self.put("\(getpid())", into: "\(group)/cgroup.procs")
    }

    private static func enable(_ controllers: [Controller], in cgroup: String) throws(SystemError) {
        let words = controllers.map { "+\($0.rawValue)" }.joined(separator: " ")
        try put(words, into: "\(cgroup)/cgroup.subtree_control")
    }

    /// Passes the processor's controller on too, so that ``limitProcessor(_:in:)`` works on leaves of `tree`.
    func passProcessor(from own: String, to tree: String) throws(SystemError) {
        guard Self.words(of: "\(own)/cgroup.controllers").contains(Controller.cpu.rawValue) else {
            throw SystemError(
                "limit processor time below", own, .notSupported,
                advice: "let the service manager delegate the cpu controller, as Delegate=yes does")
        }
        for cgroup in [own, tree] { try Self.enable([.cpu], in: cgroup) }
    }

    private static func words(of path: String) -> [String] {
        ((try? File.text(at: path)) ?? "").split { " \n".contains($0) }.map(String.init)
    }

    /// Moves back to the former cgroup, and stops passing controllers on there: an init other than systemd may start the next
    /// daemon in the same cgroup.
    func withdraw() {
        guard let left else { return }
        Self.clear(left) { try? Self.put("\(getpid())", into: "\(left)/cgroup.procs") }
    }

    /// The same for a daemon that has crashed, whose cgroup is empty.
    static func clear(_ own: String, leaving leave: () -> Void = {}) {
        let group = "\(own)/\(daemonGroup)"
        guard File.exists(group) else { return }
        for controller in Controller.allCases {
            try? put("-\(controller.rawValue)", into: "\(own)/cgroup.subtree_control")
        }
        leave()
        rmdir(group)
    }

    // MARK: Leaves

    /// Writes the limits into a new leaf, where the kernel supports them.
    func set(_ limits: LeafLimits, on leaf: String) throws(SystemError) {
        if limitsProcesses, let most = limits.processes { try Self.put("\(most)", into: "\(leaf)/pids.max") }
        guard limitsMemory, let most = limits.memory else { return }
        try Self.put("\(most)", into: "\(leaf)/memory.max")
        // Missing where the machine has no swap accounting.
        if File.exists("\(leaf)/memory.swap.max") { try Self.put("\(most)", into: "\(leaf)/memory.swap.max") }
    }

    /// - Parameter percent: of one processor; nil for as much as there is.
    static func limitProcessor(_ percent: Int?, in leaf: String) throws(SystemError) {
        let quota = percent.map { "\($0 * processorPeriod / 100)" } ?? "max"
        try put("\(quota) \(processorPeriod)", into: "\(leaf)/cpu.max")
    }

    /// In microseconds, as the kernel has it by itself.
    private static let processorPeriod = 100_000

    static func refusals(in leaf: String) -> LeafRefusals {
        LeafRefusals(
            processes: count("max", in: "\(leaf)/pids.events"), memory: count("oom_kill", in: "\(leaf)/memory.events"))
    }

    private static func count(_ name: String, in file: String) -> Int {
        let words = words(of: file)
        guard let place = words.firstIndex(of: name), place + 1 < words.count else { return 0 }
        return Int(words[place + 1]) ?? 0
    }

    private static func put(_ text: String, into path: String) throws(SystemError) {
        let file = try File.open(path, for: .write)
        do throws(SystemError) { _ = try file.write(Array(text.utf8), at: 0) } catch {
            throw SystemError("write \(text) to", path, error.errno)
        }
    }
}
