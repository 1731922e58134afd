// Completes the last word of a command line from the verbs' own table: verbs, options, names and fixed words.
import WakeArguments
import WakeEngine
import WakeModel
import WakeProfiles

/// The candidates, and what only the shell can list.
struct CompletionOffer {
    /// The values that the shell lists by itself; its script reads the raw value.
    enum Listing: String {
        case files = ":files"
        case directories = ":directories"
        case users = ":users"
        case groups = ":groups"
    }

    struct Candidate: Hashable {
        let word: String
        var meaning = ""
    }

    private(set) var candidates: [Candidate] = []
    private(set) var listing: Listing?

    /// - Parameter words: what follows the tool's name; the last word has only begun, and may be empty.
    init(for words: [String]) {
        var line = UnfinishedLine()
        for word in words.dropLast() { line.read(word) }
        let begun = words.last ?? ""
        let source = CompletionSource(words: line.daemonWords)
        switch line.wanted(begun) {
        case .options(let flags): candidates = flags.map { Candidate(word: "--" + $0.name, meaning: $0.help) }
        case .operand(let operand): offer(operand, source, after: line.operands.last ?? "")
        case .nothing: break
        }
        candidates = candidates.filter { $0.word.hasPrefix(begun) && Self.isSafe($0.word) }
    }

    /// A device may be called ":files", and the scripts would take that for a listing.
    private static func isSafe(_ word: String) -> Bool {
        !word.hasPrefix(":") && !word.unicodeScalars.contains(where: \.isMisleading)
    }

    private mutating func offer(_ operand: Operand, _ source: CompletionSource, after word: String) {
        switch operand {
        case .handler: candidates = source.handlers
        case .device: candidates = source.devices
        case .keptDevice: candidates = source.keptDevices
        case .job: candidates = source.jobs(of: word)
        case .alarm: candidates = source.alarms(of: word)
        case .condition: candidates = source.conditions
        case .profile: candidates = source.profiles
        case .adapter: candidates = source.adapters
        case .file: listing = .files
        case .directory: listing = .directories
        case .user: listing = .users
        case .group: listing = .groups
        case .verb:
            candidates =
                Verb.all.map { Candidate(word: $0.name, meaning: $0.summary) }
                + [Candidate(word: "help", meaning: "explain a verb")]
        case .word(let choices): candidates = choices.map { Candidate(word: $0.word) }
        case .several(let operand): offer(operand, source, after: word)
        case .free: break
        }
    }

    /// A line for each: the word, a tab, and what it means.
    var text: String {
        let lines = candidates.map { $0.meaning.isEmpty ? $0.word : "\($0.word)\t\($0.meaning)" }
        return (lines + [listing?.rawValue].compactMap { $0 }).map { $0 + "\n" }.joined()
    }
}

/// A command line up to the word that has only begun.
private struct UnfinishedLine {
    enum Wanted {
        case options([Flag])
        case operand(Operand)
        case nothing
    }

    private var verb: Verb?
    private var isHelp = false
    private(set) var operands: [String] = []
    /// The option that the next word is the value of.
    private var open: Flag?
    private var isAfterDashes = false
    /// The options that locate the daemon, with their values.
    private(set) var daemonWords: [String] = []

    private var flags: [Flag] { verb?.allOptions ?? (isHelp ? [] : Verb.globalOptions) }

    mutating func read(_ word: String) {
        if isAfterDashes { return }
        if let flag = open {
            // Bash takes the sign of --speed=max for a word.
            if word == "=" { return }
            open = nil
            accept(word, of: flag)
        } else if word == "--" {
            isAfterDashes = true
        } else if word.hasPrefix("--") {
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let flag = flags.first(where: { $0.name == parts[0] }), flag.value != nil else { return }
            if parts.count > 1 { accept(String(parts[1]), of: flag) } else if !flag.isValueOptional { open = flag }
        } else if word.hasPrefix("-"), word != "-" {
            // Only the last of several letters can have its value in the next word.
            guard let flag = flags.first(where: { $0.short == word.last }) else { return }
            open = flag.value == nil ? nil : flag
        } else if verb != nil || isHelp {
            operands.append(word)
        } else if word == "help" {
            isHelp = true
        } else {
            verb = Verb.known(word)
            if verb == nil { isAfterDashes = true }
        }
    }

    private mutating func accept(_ value: String, of flag: Flag) {
        if ["socket", "runtime"].contains(flag.name) { daemonWords += ["--\(flag.name)", value] }
    }

    func wanted(_ begun: String) -> Wanted {
        // A program follows, with its own words.
        if isAfterDashes { return verb?.takesProgram == true ? .operand(.file) : .nothing }
        if let open { return open.operand.map { .operand($0) } ?? .nothing }
        if begun.hasPrefix("-") { return .options(flags) }
        if isHelp { return operands.isEmpty ? .operand(.verb) : .nothing }
        guard let verb else { return .operand(.verb) }
        return Self.next(in: verb.operands, after: operands[...]).map { .operand($0) } ?? .nothing
    }

    private static func next(in operands: [Operand], after words: ArraySlice<String>) -> Operand? {
        guard let operand = operands.first, let word = words.first else { return operands.first }
        switch operand {
        case .several: return operand
        case .word(let choices):
            return next(in: choices.first { $0.word == word }?.then ?? [], after: words.dropFirst())
        case .handler, .device, .keptDevice, .job, .alarm, .condition, .profile, .adapter, .file, .directory, .user,
            .group, .verb, .free:
            return next(in: Array(operands.dropFirst()), after: words.dropFirst())
        }
    }
}

/// Asks the daemon, bluetoothd and the profiles; what does not answer offers nothing.
private struct CompletionSource {
    typealias Candidate = CompletionOffer.Candidate

    let words: [String]

    private static let patience = TimeSpan.seconds(2)

    private func answer(_ path: String) -> JSONValue {
        guard let parsed = try? ParsedArguments(words, options: Verb.daemonFlags) else { return .null }
        return (try? parsed.client.ask(.get, path, within: Self.patience).json) ?? .null
    }

    var handlers: [Candidate] {
        answer("/v1/handlers").list("handlers").compactMap { handler in
            handler["id"]?.string.map { Candidate(word: $0, meaning: handler.text("state")) }
        }
    }

    var devices: [Candidate] {
        answer("/v1/devices").list("devices").compactMap { device in
            device["alias"]?.string.map { Candidate(word: $0, meaning: device.text("profile")) }
        }
    }

    var keptDevices: [Candidate] {
        let known = devices
        guard let station = try? BluetoothStation() else { return known }
        let kept = station.client.mirror.peripherals.values.filter(\.isAdopted).map(\.alias)
        return known + Set(kept).subtracting(known.map(\.word)).sorted().map { Candidate(word: $0) }
    }

    func jobs(of handler: String) -> [Candidate] {
        answer(Verb.path(ofHandler: handler, "pending")).list("jobs").compactMap(\.string).map { Candidate(word: $0) }
    }

    func alarms(of handler: String) -> [Candidate] {
        answer(Verb.path(ofHandler: handler, "pending")).list("pending").filter { $0.text("source") == "alarm" }
            .compactMap { alarm in alarm["id"]?.string.map { Candidate(word: $0, meaning: alarm.text("state")) } }
    }

    var conditions: [Candidate] {
        answer("/v1/conditions").list("conditions").compactMap { condition in
            condition["word"]?.string.map { Candidate(word: $0) }
        }
    }

    var adapters: [Candidate] {
        answer("/v1/status").list("adapters").compactMap { adapter in
            adapter["address"]?.string.map { Candidate(word: $0) }
        }
    }

    var profiles: [Candidate] {
        NamedPlaces.own.library.all.map { Candidate(word: $0.name, meaning: $0.title) }
    }
}
