// wakebridge setup: finds what this machine lacks, asks, does it, and ends with the first value of a device.
import Glibc
import WakeArguments
import WakeDaemon
import WakeDoctor
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

extension Verb {
    static var setup: Verb {
        Verb(
            name: "setup", summary: "find what this machine lacks, fix it, and pair the first device",
            synopsis: ["[--yes] [--user USER] [--no-device] [--for TIME] [--json]"],
            detail: """
                Looks for what 'doctor' looks for, and asks before each command that it runs. Lets your user use the tool
                without sudo. Then pairs a device that a profile knows, unless you have one, and waits for its first value.
                Ends with that value, or with the one thing that is in the way, and then with exit status 1. Needs root.
                """,
            examples: ["sudo wakebridge setup", "sudo wakebridge setup --yes --no-device"],
            flags: [
                Flag("yes", short: "y", "ask nothing: run each command, and pair the only device in pairing mode"),
                Flag(
                    "user", short: "u", value: "USER",
                    "the user who may use the tool without sudo; the one who ran sudo if not given"),
                Flag("no-device", "pair no device, and wait for none"),
                Flag("for", short: "w", value: "TIME", "how long to wait for the first value; 60s if not given"),
                Flag("json", short: "j", "print how it ended as one JSON document"),
            ] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            guard geteuid() == 0 else {
                throw .notPermitted("setting up changes the system, which needs root; run 'sudo wakebridge setup'")
            }
            return try MachineSetup(words).run()
        }
    }
}

/// A run of the verb.
private final class MachineSetup {
    private let words: ParsedArguments
    private let patience: TimeSpan
    private let profiles = NamedPlaces.own.library
    /// How long a service or an adapter may take to come.
    private static let settleTime = TimeSpan.seconds(15)

    init(_ words: ParsedArguments) throws(Complaint) {
        self.words = words
        patience = try words.time("for") ?? .seconds(60)
    }

    func run() throws(Complaint) -> Int32 {
        try admitUser()
        let blockingFinding = try fixMachine()
        if words.has("no-device") {
            guard let blockingFinding else {
                return finish("this machine is ready: pair a device with 'wakebridge pair'")
            }
            return block(blockingFinding)
        }
        if try !hasDevice() {
            if let blockingFinding { return block(blockingFinding) }
            try pairDevice()
        }
        return try awaitValue()
    }

    // MARK: The machine

    /// Returns what only a person can fix.
    private func fixMachine() throws(Complaint) -> Finding? {
        var plan = SetupPlan()
        while true {
            switch plan.step(after: Findings(Facts(words))) {
            case .ready: return nil
            case .blocked(let finding): return finding
            case .fix(let finding, let command):
                plan.markTried(finding.code)
                Console.say(Console.styled(finding.what.printable, .yellow))
                if try consents(to: command), try run(command) { awaitEnd(of: finding.code) }
            }
        }
    }

    /// Waits for the effect of a command, such as bluetoothd with its adapters, which comes a moment after its end.
    private func awaitEnd(of code: Finding.Code) {
        let end = SystemClock.monotonic() + Self.settleTime
        while Findings(Facts(words)).all.contains(where: { $0.code == code }), SystemClock.monotonic() < end {
            usleep(500_000)
        }
    }

    private func consents(to command: String) throws(Complaint) -> Bool {
        Console.say("  \(words.has("yes") ? "run" : "run this?")  \(Console.styled(command.printable, .bold))")
        if words.has("yes") { return true }
        return try confirm()
    }

    private func confirm() throws(Complaint) -> Bool {
        guard Keyboard.isThere else {
            throw .failure("there is no terminal to ask at; to agree to every step, run 'sudo wakebridge setup --yes'")
        }
        Console.draw("  [Y/n] ")
        guard let answer = readLine() else { throw .failure("nothing was answered; run 'sudo wakebridge setup' again") }
        return ["", "y", "yes"].contains(answer.lowercased())
    }

    /// Standard output has the result alone. Ctrl-C ends the command and the setup.
    /// - Returns: whether the command succeeded.
    private func run(_ command: String) throws(Complaint) -> Bool {
        let status = system("{ \(command); } >&2")
        if Self.interruptions.contains(status) { throw .failure("interrupted; run 'sudo wakebridge setup' again") }
        if status != 0 { Console.say("  the command failed; what it printed is above") }
        return status == 0
    }

    /// The shell was ended by SIGINT, or reports that its command was.
    private static let interruptions = [SIGINT, (128 + SIGINT) << 8]

    // MARK: The user

    /// The daemon answers root and one group.
    private func admitUser() throws(Complaint) {
        guard let user = words.value("user") ?? Environment.value(of: "SUDO_USER"), user != "root" else { return }
        guard (try? Account(named: user)) != nil else {
            throw .notFound("there is no user '\(user.printable)'; name one with --user")
        }
        let places = BridgePlaces.machine
        let file = places.configuration + "/wakebridge.json5"
        let settings = try SettingsFile(at: file)
        let present = settings.settings.controlGroup
        let group = present ?? "wakebridge"
        if present != nil, Self.isMember(user, of: group) { return }
        let name = group.asShellWord
        let command =
            "{ getent group \(name) >/dev/null || groupadd --system \(name); } && usermod --append --groups \(name) \(user.asShellWord)"
        Console.say(Console.styled("\(user) cannot use wakebridge without sudo yet".printable, .yellow))
        guard try consents(to: command) else { return }
        guard try run(command), Self.isMember(user, of: group) else {
            throw .failure(
                "could not put \(user.printable) into the group \(group.printable); do it as your system wants it, and run "
                    + "'sudo wakebridge setup' again")
        }
        if present == nil { try settings.set("control_group", to: group.asJSON) }
        Console.say("  \(file) says control_group: \"\(group)\"; \(user) is in the group from the next login on")
        if Self.isServiceActive { _ = try run("systemctl restart wakebridged") }
    }

    private static var isServiceActive: Bool { system("systemctl --quiet is-active wakebridged 2>/dev/null") == 0 }

    private static func isMember(_ user: String, of group: String) -> Bool {
        system("id -nG -- \(user.asShellWord) 2>/dev/null | tr ' ' '\\n' | grep -qxF -- \(group.asShellWord)") == 0
    }

    // MARK: The device

    /// Whether the daemon knows one that a profile knows.
    private func hasDevice() throws(Complaint) -> Bool {
        try words.client.ask(.get, "/v1/devices").json.list("devices").contains { $0["profile"]?.string != nil }
    }

    private func pairDevice() throws(Complaint) {
        Console.say("looking for a device that a profile knows: put it into its pairing mode, or wear it")
        let options = words.has("yes") ? ["--yes"] : []
        let pairing = try ParsedArguments(options, options: Verb.pair.allOptions)
        Console.say(try pairChosen(pairing))
    }

    private func awaitValue() throws(Complaint) -> Int32 {
        let deadline = SystemClock.monotonic() + patience
        Console.say("waiting for the first value, for \(patience.spoken) at most …")
        var first: String?
        let progress = ProgressLine.onTerminal()
        defer { progress?.clear() }
        let pace = { () -> TimeSpan? in
            let left = deadline - SystemClock.monotonic()
            progress?.show(
                "waiting for the first value: \(TimeSpan.seconds(max(0, left.nanoseconds / 1_000_000_000)).spoken) left"
            )
            return first == nil && left > .zero ? min(left, .seconds(1)) : nil
        }
        let end = try words.client.follow(.get, "/v1/events", pace: pace) { line in
            if first == nil, self.isMeasured(line) { first = EventText(line: line).text }
        }
        progress?.clear()
        if let first {
            Console.say(String(first.dropLast()))
            return finish("it works; next: wakebridge new handler NAME")
        }
        if case .interrupted = end { throw .failure("interrupted; run 'sudo wakebridge setup' again") }
        return try explainSilence()
    }

    /// A value that is read once at each connect, such as a battery's charge, does not show that the device measures.
    private func isMeasured(_ line: ArraySlice<UInt8>) -> Bool {
        guard let event = try? JSONValue(parsing: line), event["type"]?.string == "wakebridge.device.data" else {
            return false
        }
        let data = event["data"] ?? .null
        guard let characteristic = data["characteristic"]?.string.flatMap({ BluetoothUUID($0) }),
            let index = data["profile"]?.string.flatMap({ profiles.index(named: $0) })
        else { return true }
        let measured = Set(profiles[index].notify).subtracting(profiles[index].readAtConnect)
        return measured.isEmpty || measured.contains(characteristic)
    }

    private func explainSilence() throws(Complaint) -> Int32 {
        let devices = try words.client.ask(.get, "/v1/status").json.list("devices")
        if devices.isEmpty { return block("the daemon knows no device yet; pair one with 'wakebridge pair'") }
        for device in devices {
            let alias = device.text("alias")
            if let why = device["why"]?.string { return block("\(alias): \(why.printable)") }
            if device.text("link") != "connected" {
                return block(
                    "\(alias) is not near, or asleep: wake it, bring it nearer, and run 'wakebridge setup' again"
                        + scanOfOthers)
            }
        }
        return block("the device is connected and says nothing: wear it or use it, and see 'wakebridge watch'")
    }

    /// A foreign scan, which may keep a device from being connected without being wrong.
    private var scanOfOthers: String {
        let scan = Findings(Facts(words)).all.first { $0.code == .foreignScan }
        return scan.map { "; \($0.what): \($0.why)" } ?? ""
    }

    // MARK: The end

    private func finish(_ sentence: String) -> Int32 {
        if words.has("json") {
            Console.print(JSONWriter.line { $0.field("done", true) })
        } else {
            Console.print(Console.styled(sentence, .green) + "\n")
        }
        return 0
    }

    private func block(_ finding: Finding) -> Int32 {
        switch finding.remedy {
        case .run(let command): block("\(finding.what); fix: \(command)")
        case .act(let advice): block("\(finding.what); fix: \(advice)")
        case nil: block(finding.what)
        }
    }

    private func block(_ sentence: String) -> Int32 {
        if words.has("json") {
            Console.print(
                JSONWriter.line {
                    $0.field("done", false)
                    $0.field("in_the_way", sentence)
                })
        } else {
            Console.say("in the way: \(sentence.printable)")
        }
        return 1
    }
}
