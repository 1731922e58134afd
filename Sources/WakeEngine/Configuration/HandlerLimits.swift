// The `limits` of a manifest: how much of the machine one handler may use.
import WakeProfiles
import WakeSystem

public struct HandlerLimits: Hashable, Sendable {
    /// Descriptors that each of its processes may have open; nil for ``defaultOpenFiles``.
    public var openFiles: Int?
    /// Its processes and threads; nil for ``defaultProcesses``.
    public var processes: Int?
    /// Bytes of memory; nil for a quarter of the machine's.
    public var memory: Int?

    static let keys = ["open_files", "processes", "memory"]

    /// The handler may raise its soft limit itself: more than 1,023 break programs that use select(2).
    static let defaultOpenFiles = ProcessLimits.Limit(soft: 1_024, hard: 4_096)
    static let defaultProcesses = 128
    /// Where the kernel only counts all processes of a user, who has other programs too.
    static let defaultUserProcesses = 4_096

    init() {}

    init(_ object: ConfigurationObject) {
        openFiles = object.integer("open_files", in: 16...1_048_576)
        processes = object.integer("processes", in: 1...1_000_000)
        memory = object.size("memory", in: (1 << 20)...(1 << 40))
    }
}

extension HandlerLimits {
    /// The limits of its cgroup leaf.
    func ofLeaf(machineMemory: Int?) -> LeafLimits {
        LeafLimits(processes: processes ?? Self.defaultProcesses, memory: memory ?? machineMemory.map { $0 / 4 })
    }

    /// The limits of each of its processes.
    /// - Parameters:
    ///   - isContained: its leaf limits its processes already.
    ///   - isAlone: its user has no other programs.
    func ofProcess(isContained: Bool, isAlone: Bool) -> ProcessLimits {
        var limits = ProcessLimits()
        limits.openFiles = openFiles.map { .init(soft: $0, hard: $0) } ?? Self.defaultOpenFiles
        if isContained { return limits }
        let most = processes ?? (isAlone ? Self.defaultProcesses : Self.defaultUserProcesses)
        limits.userProcesses = .init(soft: most, hard: most)
        return limits
    }
}
