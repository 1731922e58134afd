// Who is measured: the limit, ours, and what people run today.
import Glibc
import WakeModel
import WakeSystem

extension Subject {
    /// What the kernel alone costs, with so many handlers that are woken one at a time.
    static func limit(handlers: Int = 1) throws -> Subject {
        let name = "wakebridge-bench-\(getpid())-\(handlers)"
        return try inFolder("limit") { [try Program.own(), "limit", $0 + "/board", name, "\(handlers)"] }
    }

    /// The daemon, with its handler frozen as soon as it has nothing to do, unless it may linger.
    static func bridge(
        _ plan: BridgePlan, _ name: String? = nil, bytesPerRead: Int = 4_096
    ) throws -> Subject {
        let folder = try BridgeFolder(plan)
        let words = [try Program.own(), "bridge", folder.path, "\(bytesPerRead)", "\(plan.devices)"]
        return try Subject(name ?? plan.durability.rawValue, words, board: folder.board(0)) {
            Directory.removeTree(folder.path)
        }
    }

    /// An asyncio program that reads the device and is never frozen.
    static func reader() throws -> Subject {
        try inFolder("asyncio reader, always awake") {
            [try Places.python(), try Places.peer("reader.py"), $0 + "/board"]
        }
    }

    /// An asyncio program that does our whole job.
    static func pythonBridge(staysAwake: Bool = false, bytesPerRead: Int = 4_096) throws -> Subject {
        // It needs nothing from PyPI.
        let python = try (try? Places.python()) ?? Places.systemPython()
        return try inFolder("asyncio bridge") {
            [
                python, try Places.peer("bridge.py"), $0, $0 + "/board", try Places.handler(),
                "\(bytesPerRead)",
            ] + (staysAwake ? ["awake"] : [])
        }
    }

    /// A program started for each event.
    static func started(_ name: String, _ program: [String]) throws -> Subject {
        try inFolder(name) { [try Program.own(), "starter"] + program + [$0 + "/board"] }
    }

    private static func inFolder(_ name: String, _ words: (String) throws -> [String]) throws -> Subject {
        let folder = try MemoryFolder.make()
        do {
            return try Subject(name, try words(folder), board: folder + "/board") { Directory.removeTree(folder) }
        } catch {
            Directory.removeTree(folder)
            throw error
        }
    }
}
