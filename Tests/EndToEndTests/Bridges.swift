// The tool's replay and the daemon as tests start them, and the cgroups that belong to them.
import Glibc
import TestBench
import Testing

/// The cgroups of one bridge, seen from outside.
struct Leaves {
    let tree: String

    var names: [String] {
        TestBench.names(in: tree).filter { access("\(tree)/\($0)/cgroup.procs", F_OK) == 0 }
    }
    var exist: Bool { access(tree, F_OK) == 0 }

    func isFrozen(_ leaf: String) -> Bool {
        let events = lines(of: "\(tree)/\(leaf)/cgroup.events")
        return events.contains("frozen 1") && events.contains("populated 1")
    }

    /// True while there is a handler process and each one is frozen.
    var areFrozen: Bool {
        let all = names
        return !all.isEmpty && all.allSatisfy(isFrozen)
    }

    func processes(_ leaf: String) -> [Int32] { lines(of: "\(tree)/\(leaf)/cgroup.procs").compactMap { Int32($0) } }
    var processes: [Int32] { names.flatMap { processes($0) } }
}

/// `wakebridge replay` with a handler.
struct LiveReplay {
    let scratch: Scratch
    let running: Running
    let decisionsPath: String
    var leaves: Leaves { Leaves(tree: "\(Machine.cgroup ?? "/nowhere")/wakebridge-replay-\(running.pid)") }

    /// `more` stands in the manifest beside the usual keys; nil plays without one. `runtime` is its XDG_RUNTIME_DIR.
    init(
        _ trace: TraceText, speed: String = "1", _ scratch: Scratch, manifest more: String? = nil,
        runtime: String? = nil, handler: [String]
    ) throws {
        try self.init(
            trace: scratch.write(trace.text, to: "played.trace"), speed: speed, scratch, manifest: more,
            runtime: runtime, handler: handler)
    }

    init(
        trace: String, speed: String = "1", _ scratch: Scratch, manifest more: String? = nil,
        runtime: String? = nil, handler: [String]
    ) throws {
        self.scratch = scratch
        decisionsPath = scratch.file("decisions")
        var words = [Built.tool, "replay", trace, "--speed", speed, "--decisions", decisionsPath]
        if let more { words += ["--manifest", scratch.write(manifest(handler, more), to: "played.json5")] }
        let ahead = runtime.map { ["env", "XDG_RUNTIME_DIR=\($0)"] } ?? []
        running = try Running(ahead + words + ["--"] + handler, in: scratch)
    }

    var decisions: [Decision] { Decision.read(decisionsPath) }

    func end(within seconds: Double = 60) async throws -> Running.Outcome { try await running.end(within: seconds) }
}

/// One line of a decision log.
struct Decision: Hashable {
    /// Since the start, in seconds.
    var time: Double
    var handler: String
    var text: String

    static func read(_ path: String) -> [Decision] {
        lines(of: path).compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard fields.count == 3, let microseconds = Double(fields[0]) else { return nil }
            return Decision(time: microseconds / 1e6, handler: fields[1], text: fields[2])
        }
    }
}

extension [Decision] {
    /// When the first decision came that begins so.
    func time(of start: String) -> Double? { first { $0.text.hasPrefix(start) }?.time }
    func count(of start: String) -> Int { count { $0.text.hasPrefix(start) } }
    func has(_ start: String) -> Bool { contains { $0.text.hasPrefix(start) } }
}

/// `wakebridged` with folders of its own.
final class RunningDaemon {
    let scratch: Scratch
    let running: Running
    var configuration: String { scratch.file("config") }
    var socket: String { scratch.file("run/control.sock") }

    /// `handlers` are manifests by id; `settings` is wakebridge.json5.
    init(
        _ scratch: Scratch, handlers: [String: String], settings: String? = nil, replay: String? = nil,
        speed: String = "1"
    ) async throws {
        self.scratch = scratch
        _ = scratch.directory("config")
        _ = scratch.directory("config/handlers.d")
        if let settings { scratch.write(settings, to: "config/wakebridge.json5") }
        for (id, text) in handlers { scratch.write(text, to: "config/handlers.d/\(id).json5") }
        var words = [
            Built.daemon, "--config", scratch.file("config"), "--state", scratch.file("state"), "--runtime",
            scratch.file("run"),
        ]
        if let replay { words += ["--replay", replay, "--speed", speed] }
        running = try Running(words, in: scratch)
        let isUp = try await wait(20) { access(self.socket, F_OK) == 0 || self.running.isOver }
        try #require(isUp && !running.isOver, "the daemon did not come up: \(running.talk)")
    }

    var leaves: Leaves { Leaves(tree: Machine.cgroup(ofDaemonAt: scratch.file("run"))) }

    /// Runs the tool against this daemon to its end.
    func tool(_ words: String...) async throws -> Running.Outcome {
        try await Running([Built.tool, "--socket", socket] + words, in: scratch).end(within: 20)
    }

    /// SIGTERM, and what the daemon said until its end.
    func stop() async throws -> Running.Outcome {
        running.signal(SIGTERM)
        return try await running.end(within: 20)
    }
}
