// The daemon's command line: its words, its help, and its exit status: 0 ended in order, 1 failed, 2 wrong usage.
import Glibc
import WakeArguments
import WakeEngine
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem
import WakeTrace

public enum DaemonCommand {
    static let flags: [Flag] =
        placeFlags + replayFlags + TracePart.flags + [
            Flag("no-bluetooth", "watch no Bluetooth devices"),
            Flag("no-accessories", "watch no accessories"),
            Flag("sweep", "end what a daemon that died has left running, and go"),
            Flag("help", short: "h", "show this text"),
            Flag("version", short: "V", "show the version"),
        ]
    private static let placeFlags = [
        Flag("config", value: "DIR", "wakebridge.json5, handlers.d/ and Devices/"),
        Flag("state", value: "DIR", "what must survive a reboot: journal, checkpoints, the handlers' own directories"),
        Flag("runtime", value: "DIR", "what must survive the daemon: journal, control socket; best on a tmpfs"),
    ]
    private static let replayFlags = [
        Flag("replay", value: "FILE", "play this trace in place of devices"),
        Flag("speed", value: "N|max", "how fast the trace is played; 1 if not given"),
    ]

    /// - Parameters:
    ///   - sources: those that this daemon has, unless a trace is played.
    ///   - timers: its alarms, which are the kernel's in every installed daemon.
    public static func run(
        _ words: [String], sources: [any RegisteredSource.Type] = SourceRegistry.all,
        timers: any LoopTimers = KernelTimers()
    ) -> Int32 {
        // Before anything is opened: a file at the number of standard error would take in the log.
        StandardStreams.occupyClosed()
        Signals.reportFatal()
        do throws(Complaint) {
            try register(sources)
            let parsed = try ParsedArguments(Array(words.dropFirst()), options: flags)
            try parsed.atMost(0)
            if parsed.has("help") { return try answer(help) }
            if parsed.has("version") { return try answer("wakebridged \(Daemon.version)\n") }
            var options = try options(parsed, sources)
            options.timers = timers
            return parsed.has("sweep") ? try sweep(options) : try run(options)
        } catch {
            report(error)
            return error.exitStatus
        }
    }

    private static func register(_ sources: [any RegisteredSource.Type]) throws(Complaint) {
        for source in sources {
            if let fault = source.kind.fault { throw .failure(fault) }
            SourceKind.register(source.kind)
        }
    }

    private static func run(_ options: DaemonOptions) throws(Complaint) -> Int32 {
        let daemon = try start(options)
        do throws(SystemError) {
            return try daemon.run()
        } catch {
            throw .failure("cannot go on: \(error)")
        }
    }

    private static func start(_ options: DaemonOptions) throws(Complaint) -> Daemon {
        do {
            // Asked to end or to read again while it starts, it does so once it has started.
            for number in [SIGTERM, SIGINT, SIGHUP] { try Signals.block(number) }
            let daemon = try Daemon(options)
            try daemon.start()
            return daemon
        } catch {
            throw .failure("cannot start: \(error)")
        }
    }

    /// For the service manager, after the daemon is gone: no process that it froze may be left behind.
    private static func sweep(_ options: DaemonOptions) throws(Complaint) -> Int32 {
        do {
            try options.claim()
            // A living daemon holds this lock, and its handlers are no left-overs.
            let lock = try LockFile(at: options.runtimeDirectory + "/wakebridged.lock")
            defer { withExtendedLifetime(lock) {} }
            let survivors = try CgroupTree.sweep(named: options.cgroupName)
            guard survivors.isEmpty else { throw Complaint.failure("cannot end \(survivors.joined(separator: ", "))") }
            return 0
        } catch {
            throw .failure("cannot sweep: \(error)")
        }
    }

    private static func options(
        _ words: ParsedArguments, _ sources: [any RegisteredSource.Type]
    ) throws(Complaint) -> DaemonOptions {
        var options = DaemonOptions()
        options.sources = sources
        if let directory = try path("config", words) { options.configurationDirectory = directory }
        if let directory = try path("state", words) { options.stateDirectory = directory }
        if let directory = try path("runtime", words) { options.runtimeDirectory = directory }
        options.replay = try replay(words)
        if words.has("no-bluetooth") { options.sources.removeAll { $0.kind == .bluetoothCentral } }
        if words.has("no-accessories") { options.sources.removeAll { $0.kind == .externalAccessory } }
        return options
    }

    private static func replay(_ words: ParsedArguments) throws(Complaint) -> DaemonOptions.Replay? {
        guard let file = words.value("replay") else {
            let names = (replayFlags + TracePart.flags).map(\.name)
            if let name = names.first(where: words.has) { throw .usage("--\(name) goes with --replay only") }
            return nil
        }
        let speed = try words.value("speed").map { text throws(Complaint) in try ReplaySpeed(text) } ?? .times(1)
        return DaemonOptions.Replay(file: file, part: try TracePart(words), speed: speed)
    }

    /// Makes the path absolute, because handlers start in other directories.
    private static func path(_ name: String, _ words: ParsedArguments) throws(Complaint) -> String? {
        guard let path = words.value(name) else { return nil }
        do {
            return try File.absolute(path)
        } catch {
            throw .failure("cannot use --\(name) \(path): \(error.description)")
        }
    }

    private static func answer(_ text: String) throws(Complaint) -> Int32 {
        do throws(SystemError) {
            try StandardStreams.write(Array(text.utf8), to: 1, called: "standard output")
            return 0
        } catch {
            throw .failure(error.description)
        }
    }

    /// Where standard error cannot be written, the exit status is all that can be reported.
    private static func report(_ complaint: Complaint) {
        let help = complaint.isUsage ? "'wakebridged --help' tells how it is used.\n" : ""
        let text = "wakebridged: \(complaint.sentence)\n\(help)"
        try? StandardStreams.write(Array(text.utf8), to: 2, called: "standard error")
    }

    private static var help: String {
        let rows = flags.map { flag in
            let name = "--\(flag.name)" + (flag.value.map { " \($0)" } ?? "")
            return "  \(name)\(String(repeating: " ", count: max(1, 20 - name.utf8.count)))\(flag.help)\n"
        }
        let own = DaemonOptions()
        return "usage: wakebridged [OPTION…]\nWakes suspended handlers for what devices say.\n\n" + rows.joined() + """

            Unless you say otherwise, your directories are:
              --config     \(own.configurationDirectory)
              --state      \(own.stateDirectory)
              --runtime    \(own.runtimeDirectory)

            """
    }
}

extension ReplaySpeed {
    /// `max`, or a factor from 0.01 to 1,000, with or without an `x` after it.
    public init(_ text: String) throws(Complaint) {
        if text == "max" {
            self = .max
            return
        }
        guard let factor = Double(text.hasSuffix("x") ? String(text.dropLast()) : text), (0.01...1000).contains(factor)
        else {
            throw .usage("--speed '\(text)' is neither max nor a factor from 0.01 to 1000")
        }
        self = .times(factor)
    }
}
