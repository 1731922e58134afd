// The work of the verbs replay and run: virtual without a handler, live with one.
import Glibc
import WakeArguments
import WakeCore
import WakeDaemon
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem
import WakeTrace

func replay(_ options: ReplayOptions) throws(Complaint) -> Int32 {
    var chunks: FileChunks?
    do {
        let opened = try FileChunks(options.trace)
        chunks = opened
        let reader = try options.part.readingHeader(of: TraceReader(supplyingChunks: opened.next), options.trace)
        let decisions = try options.decisions.map { path in try LineFile(path) }
        defer { decisions?.close() }
        if options.handler.isEmpty, options.manifest == nil {
            return try playVirtually(reader, options, decisions)
        }
        let manifest = try handlerManifest(options.manifest, options.handler, .forWholeTrace(durability: .run))
            .running(asUser: options.user)
        let played = LiveTrace(options.trace, reader, options.part, options.speed, isStepped: options.isStepped)
        return try playLive(
            played, manifest, options.places.library, decisions, keepingStateIn: try options.keep.map(File.absolute),
            printsJSON: options.printsJSON)
    } catch let complaint as Complaint {
        throw complaint
    } catch {
        throw .failure("cannot replay \(options.trace): \(chunks?.failure ?? error)")
    }
}

/// Runs the bridge and one handler in the foreground, with real devices, or with a trace instead.
func run(_ options: RunOptions) throws(Complaint) -> Int32 {
    do {
        var settings = HandlerSettings.forWholeTrace(durability: .run)
        if let profile = options.profile {
            settings.subscriptions = [Subscription(profile: profile, device: options.device)]
        }
        let manifest = try handlerManifest(options.manifest, options.handler, settings)
            .running(asUser: options.user)
        guard let trace = options.replay else {
            return try live(
                manifest, options.places.library, wokenBy: .devices, printsJSON: options.printsJSON,
                ProgressLine.onTerminal().map(ProgressOutput.redrawn) ?? .silent, nil
            ) { try $0.watch() }
        }
        let chunks = try FileChunks(trace)
        let reader = try options.part.readingHeader(of: TraceReader(supplyingChunks: chunks.next), trace)
        let played = LiveTrace(trace, reader, options.part, options.speed, isStepped: options.isStepped)
        return try playLive(played, manifest, options.places.library, nil, printsJSON: options.printsJSON)
    } catch let complaint as Complaint {
        throw complaint
    } catch {
        let subject = options.replay.map { " on \($0)" } ?? ""
        throw .failure("cannot run \(options.handler[0])\(subject): \(error)")
    }
}

/// The manifest's settings, with the command line's program where both name one.
private func handlerManifest(
    _ file: String?, _ command: [String], _ settings: HandlerSettings
) throws -> HandlerManifest {
    guard let file else {
        var manifest = try HandlerManifest(id: "handler", command: command, settings: settings).running(command)
        manifest.environment = PythonModule.environment
        return manifest
    }
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let id = HandlerManifest.identifier(ofFile: name) ?? "handler"
    // A file named on the command line may belong to the user that typed it, under sudo too.
    let caller = geteuid() == 0 ? try HandlerManifest.callerOfSudo()?.user : nil
    let text = try TrustedFile.bytes(at: file, limit: 1 << 20, trustingAlso: caller)
    var manifest: HandlerManifest
    do throws(ConfigurationErrors) {
        manifest = try HandlerManifest(id: id, file: file, text: text, isRoot: false, isRun: command.isEmpty)
    } catch { throw error.located(in: text) }
    manifest.enableForThisCall()
    if command.isEmpty {
        manifest.exec = manifest.command(in: try folder(of: file))
        return manifest
    }
    return try manifest.running(command)
}

private func folder(of file: String) throws -> String {
    String(
        try File.absolute(file).split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
            separator: "/"))
}

extension HandlerManifest {
    /// All of a folder. A folder without one would replay nothing.
    fileprivate static func replayed(_ folder: String, _ profiles: ProfileLibrary) throws -> [HandlerManifest] {
        var manifests: [HandlerManifest] = []
        for name in try Directory.names(in: folder) {
            guard let id = identifier(ofFile: name) else { continue }
            let file = "\(folder)/\(name)"
            let text = try File.bytes(at: file, limit: 1 << 20)
            do throws(ConfigurationErrors) {
                manifests.append(try HandlerManifest(replaying: id, file: file, text: text, profiles))
            } catch { throw error.located(in: text) }
        }
        guard !manifests.isEmpty else { throw NoManifest(folder: folder) }
        return manifests
    }

    /// A person who names a manifest on the command line wants it to run, such as a new one of 'new --template alert'.
    fileprivate mutating func enableForThisCall() {
        guard !settings.isEnabled else { return }
        settings.isEnabled = true
        Console.say(
            "\(file.printable) has enabled: false, so a daemon never wakes it; it runs now because you named it")
    }

    /// A program on the command line runs in the current directory, so that its path and arguments stay valid.
    fileprivate func running(_ command: [String]) throws -> HandlerManifest {
        var manifest = self
        manifest.exec = command
        manifest.workingDirectory = try workingDirectory ?? Directory.current()
        return manifest
    }
}

private func playVirtually(_ reader: TraceReader, _ options: ReplayOptions, _ decisions: LineFile?) throws -> Int32 {
    let profiles = options.places.library
    let manifests = try options.manifests.map { try HandlerManifest.replayed($0, profiles) } ?? []
    let replay = try VirtualReplay(
        reader, part: options.part, profiles: profiles, manifests: manifests, jobs: options.work)
    if let decisions { replay.logDecisions { decisions.write($0) } }
    let printer = try LineFile.standardOutput()
    // The part before a broken line is shown too.
    defer { printer.close() }
    let outcome = try replay.play { printer.write($0) }
    return outcome.deadLetters + outcome.quarantines == 0 ? 0 : 1
}

/// A trace in place of devices, and how it is played.
private struct LiveTrace {
    let file: String
    let reader: TraceReader
    let part: TracePart
    let speed: ReplaySpeed
    let isStepped: Bool

    init(_ file: String, _ reader: TraceReader, _ part: TracePart, _ speed: ReplaySpeed, isStepped: Bool) {
        (self.file, self.reader, self.part) = (file, reader, part)
        // A step waits for no time of the trace.
        (self.speed, self.isStepped) = (isStepped ? .max : speed, isStepped)
    }
}

private func playLive(
    _ trace: LiveTrace, _ manifest: HandlerManifest, _ profiles: ProfileLibrary, _ decisions: LineFile?,
    keepingStateIn folder: String? = nil,
    printsJSON: Bool
) throws -> Int32 {
    if manifest.settings.requirements.contains(.bonded) { throw RequiredBond(file: manifest.file) }
    // A line that is drawn again and again would appear below each step.
    let progress =
        trace.isStepped ? ProgressOutput.silent : ProgressLine.onTerminal().map(ProgressOutput.redrawn) ?? .lines
    return try live(
        manifest, profiles, wokenBy: .trace, keepingStateIn: folder, printsJSON: printsJSON, progress, decisions
    ) { bridge in
        let outcome = try bridge.play(
            trace.reader, part: trace.part, speed: trace.speed, isStepped: trace.isStepped)
        if let error = outcome.traceError { Console.say("wakebridge: cannot replay \(trace.file) further: \(error)") }
        return outcome
    }
}

private struct NoManifest: Error, CustomStringConvertible {
    var folder: String

    var description: String { "there is no manifest in \(folder); name a folder such as /etc/wakebridge/handlers.d" }
}

/// A trace proves no bond, so a handler that requires one would get no event of it.
private struct RequiredBond: Error, CustomStringConvertible {
    var file: String

    var description: String {
        "\(file) requires bonded devices, and no device of a trace is bonded; take \"bonded\" out of require for the replay"
    }
}

/// Bridge and handler, with their output on the terminal.
private func live(
    _ manifest: HandlerManifest, _ profiles: ProfileLibrary, wokenBy source: ForegroundBridge.Source,
    keepingStateIn folder: String? = nil, printsJSON: Bool, _ progress: ProgressOutput, _ decisions: LineFile?,
    _ body: (ForegroundBridge) throws -> ForegroundBridge.Outcome
) throws -> Int32 {
    try check(manifest, against: profiles)
    let bridge = try ForegroundBridge(
        manifest, wokenBy: source, profiles: profiles, keepingStateIn: folder
    ) { line in
        progress.clear()
        Console.print(printsJSON ? JSONWriter.line { $0.field("text", line) } : Array((line + "\n").utf8))
    }
    bridge.say = { sentence in
        progress.clear()
        Console.say(sentence.printable)
    }
    if let pace = progress.pace { try bridge.showProgress(pace) { progress.show($0.sentence) } }
    if let decisions { bridge.logDecisions { decisions.writeNow($0) } }
    if bridge.strength == .weak {
        Console.say("warning: no cgroup can be had here, so the handler is suspended by stop signals, which is weaker")
    }
    defer { progress.clear() }
    let outcome = try body(bridge)
    progress.clear()
    if outcome.deadLetters + outcome.quarantines > 0 {
        let hints = FailureHints(lastLine: bridge.lastErrorLine, hasManifest: !manifest.text.isEmpty)
        for sentence in hints.sentences { Console.say(sentence.printable) }
    }
    Console.note(outcome.sentence)
    if let kept = bridge.keptFolder { Console.note("the handler's files are kept in \(kept)") }
    return outcome.isFailure ? 1 : 0
}

/// How far a bridge in the foreground is, for the person who waits.
private enum ProgressOutput {
    case redrawn(ProgressLine)
    case lines
    case silent

    var pace: ProgressPace? {
        switch self {
        case .redrawn: .redrawn
        case .lines: .lines
        case .silent: nil
        }
    }

    func show(_ sentence: String) {
        switch self {
        case .redrawn(let line): line.show(sentence)
        case .lines: Console.note(sentence.printable)
        case .silent: break
        }
    }

    func clear() { if case .redrawn(let line) = self { line.clear() } }
}

/// A handler that fails mostly writes the reason to stderr, far above the end. Without a manifest it may lack a setting.
struct FailureHints {
    let lastLine: String?
    let hasManifest: Bool

    var sentences: [String] {
        let line = lastLine.map { "the handler's last line on stderr: \($0)" }
        let hint =
            "variables, user and settings of a handler come from its manifest; name one with --manifest FILE, or write one "
            + "with 'wakebridge new handler'"
        return [line, hasManifest ? nil : hint].compactMap { $0 }
    }
}

/// An unknown profile matches nothing, and its handler would sleep for ever.
private func check(_ manifest: HandlerManifest, against profiles: ProfileLibrary) throws {
    guard manifest.settings.subscriptions.map(\.profile) != [Subscription.anyProfile] else { return }
    let faults = manifest.faults(against: profiles)
    if !faults.isEmpty { throw ConfigurationErrors(faults) }
}

extension ForegroundBridge.Outcome {
    /// The summary at the end.
    fileprivate var sentence: String {
        var text = "\(events.counted("event")), \(acknowledged) acknowledged; "
        text += suspensions == 0 ? "never frozen" : "frozen \(suspensions.counted("time"))"
        text += ", awake \(share(awake, of: length)) of the time"
        if strikes > 0 { text += "; \(strikes.counted("budget")) overrun" }
        if deadLetters > 0 { text += "; \(deadLetters) dead-lettered" }
        if quarantines > 0 { text += "; quarantined after crashing" }
        return text + (wasInterrupted ? "; interrupted" : "")
    }
}
