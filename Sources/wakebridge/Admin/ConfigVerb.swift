// wakebridge config: the settings in force, each with where it comes from; and setting one of them.
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeModel
import WakeSystem

extension Verb {
    static var config: Verb {
        Verb(
            name: "config", summary: "show the settings with where each comes from, or set one",
            synopsis: ["[--config DIR] [--json] show", "[--config DIR] [--json] set KEY VALUE"],
            detail: """
                Reads wakebridge.json5 as a daemon of this user does. 'show' shows each key with its value, and with "default"
                where the file does not name it, and needs no daemon.

                'set' writes one value into the file, checks the whole file first, and keeps its comments. VALUE is JSON5, or a
                text without quotation marks. A daemon that runs with this directory then reads the file. The answer says
                whether the value takes effect at once or at the daemon's next start.
                """,
            examples: [
                "wakebridge config show", "sudo wakebridge config set mqtt.fields.chest-strap.bpm.deadband 2",
                "sudo wakebridge config set journal.max_size 256MiB",
            ],
            flags: [NamedPlaces.configFlag, Flag("json", short: "j", "print the settings, or what was set, as JSON")]
                + daemonFlags,
            operands: [.words("show", "set")]
        ) { words throws(Complaint) in
            let known = ["show", "set"]
            guard let action = words.operands.first else { throw .usage("name what to do: show or set") }
            switch action {
            case "show": return try showSettings(words)
            case "set": return try setSetting(words)
            default: throw .usage("settings cannot be told to '\(action)'.\(suggestion(for: action, among: known))")
            }
        }
    }

    private static func showSettings(_ words: ParsedArguments) throws(Complaint) -> Int32 {
        try words.atMost(1)
        let places = try NamedPlaces(words)
        let settings: SettingsInForce
        do { settings = try SettingsInForce(in: places.configuration) } catch {
            throw .failure("cannot show the settings: \(error)")
        }
        Console.print(words.has("json") ? settings.json : Array(settings.text.utf8))
        return 0
    }

    private static func setSetting(_ words: ParsedArguments) throws(Complaint) -> Int32 {
        try words.atMost(3)
        guard words.operands.count == 3 else {
            throw .usage("set needs a KEY and a VALUE; 'config show' lists the keys")
        }
        let (key, value) = (words.operands[1], words.operands[2])
        let file = try SettingsFile(of: words, for: "config set")
        let change: SettingsChange
        do throws(Complaint) { change = try file.set(key, to: value) } catch {
            throw error.saying("cannot set \(key.printable): \(error.sentence); nothing was written")
        }
        let outcome = SettingOutcome(
            key: key, value: value, file: file.path, change: change, reading: try reread(words, file.path),
            restart: InitSystem.ofThisMachine.restartOfBridge(isOfSystem: words.client.isOfSystem))
        Console.print(words.has("json") ? outcome.json : Array(outcome.text.utf8))
        return 0
    }

    /// Lets the daemon of the file's directory read it. What else is wrong with its configuration is for 'reload'.
    private static func reread(_ words: ParsedArguments, _ file: String) throws(Complaint) -> SettingOutcome.Reading {
        do throws(Complaint) {
            let client = words.client
            if let obstacle = try client.obstacle(toReading: File.parent(of: file)) { return .otherDaemon(obstacle) }
            _ = try client.ask(.post, "/v1/reload")
            return .read
        } catch {
            if case .notRunning = error { return .notRunning }
            throw error.saying("\(file.printable) was changed, and the daemon has not read it: \(error.sentence)")
        }
    }
}

/// The outcome of setting one key.
struct SettingOutcome {
    let key: String
    let value: String
    let file: String
    let change: SettingsChange
    let reading: Reading
    /// How a person starts the daemon again.
    let restart: String

    enum Reading: Hashable {
        /// The daemon of the file's directory has read it.
        case read
        case notRunning
        /// The daemon that runs uses another directory, which the clause names.
        case otherDaemon(String)
    }

    private var isSame: Bool { change.applied.isEmpty && change.postponed.isEmpty }
    private var waits: Bool { reading != .read || !change.postponed.isEmpty }

    private var effect: String {
        if isSame { return "it was so already" }
        return switch reading {
        case .notRunning: "wakebridged is not running; it takes effect when it starts"
        case .otherDaemon(let clause): "\(clause); it takes effect when a daemon starts with it"
        case .read where waits: "it takes effect at the daemon's next start: \(restart)"
        case .read: "it has taken effect"
        }
    }

    var text: String {
        "set \(key.printable) to \(value.printable) in \(file.printable)\n\(effect)\n"
    }

    var json: [UInt8] {
        JSONWriter.line { writer in
            writer.field("file", file)
            writer.field("key", key)
            writer.field("in_force", isSame || !waits)
            writer.field("applied", reading == .read ? change.applied : [])
            writer.field("postponed", reading == .read ? change.postponed : change.applied + change.postponed)
        }
    }
}

extension SettingsInForce {
    fileprivate var text: String {
        let keys = rows.map { row in
            [row.key.printable, row.value?.printable ?? "-", row.isSet ? file.printable : "default"]
        }
        let places = directories.map { ["  " + $0.name, $0.path.printable] }
        let absence = isThere ? "" : "there is no \(file.printable): every setting is the default\n\n"
        return absence + Table(head: ["KEY", "VALUE", "FROM"], rows: keys).text + "\ndirectories:\n"
            + Table(rows: places).text
    }

    fileprivate var json: [UInt8] {
        JSONWriter.line { writer in
            writer.field("file", file)
            writer.field("is_there", isThere)
            writer.objects("settings", rows) { writer, row in
                writer.field("key", row.key)
                writer.field("value", row.value)
                writer.field("from", row.isSet ? "file" : "default")
            }
            writer.objects("directories", directories) { writer, directory in
                writer.field("name", directory.name)
                writer.field("path", directory.path)
            }
        }
    }
}
