// wakebridge doctor: what is wrong with Bluetooth, accessories and the bridge on this machine, and the command that fixes each.
import Glibc
import WakeArguments
import WakeControl
import WakeDaemon
import WakeDoctor
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

extension Verb {
    static var doctor: Verb {
        Verb(
            name: "doctor",
            summary: "what is wrong with Bluetooth, accessories and the bridge, and the command that fixes it",
            synopsis: ["[--root DIR] [--config DIR] [--json]"],
            detail: """
                Looks at the kernel, the message bus, bluetoothd, udev and the daemon, and changes nothing. If no daemon
                runs, it reads the settings and manifests itself. The worst comes first, each with what it means and how to
                fix it. Whatever hangs is told after 5 s. Root sees more. Exit status 0 where nothing is worse than a note,
                else 1.
                """,
            examples: ["sudo wakebridge doctor"],
            flags: [
                Flag("json", short: "j", "print the findings as one JSON document"),
                Flag(
                    "root", value: "DIR",
                    "read the files of /sys, /proc, /boot, systemd and udev below DIR instead of /"),
                NamedPlaces.configFlag,
            ] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            let findings = Findings(Facts(words, at: try NamedPlaces(words)))
            Console.print(words.has("json") ? findings.json : Array(findings.text.utf8))
            return findings.worst > .note ? 1 : 0
        }
    }
}

extension Facts {
    /// Asks every part of the system, each with a deadline.
    /// - Parameter places: of the configuration that is read where no daemon runs; nil to read none.
    init(_ words: ParsedArguments, at places: NamedPlaces? = nil) {
        self.init()
        let machine = MachineLook(root: words.value("root") ?? "")
        toolVersion = Tool.version
        isRoot = geteuid() == 0
        hasSystemd = machine.hasSystemd
        isClockSet = SystemClock.isSynchronized
        radio = machine.radio
        kernel = machine.kernel
        kernel.listen()
        bluetoothUnit = machine.unit("bluetooth.service")
        bridgeUnit = machine.unit("wakebridged.service")
        hasBluetoothd = machine.hasBluetoothd
        bluetoothdVersion = machine.bluetoothdVersion
        bus = BusLook.look()
        let client = words.client
        isBridgeOfSystem = client.isOfSystem
        bridge = client.state(on: machine)
        if let places, Self.isUnread(places, by: bridge, client) { foreseen = Self.foreseen(client, places) }
        accessories = machine.accessories(knowing: .ofProfiles(in: places ?? .own))
    }

    /// Whether no daemon reports on the configuration: none runs, or the one that runs uses another than the named one.
    private static func isUnread(_ places: NamedPlaces, by bridge: BridgeState, _ client: ControlClient) -> Bool {
        guard case .running = bridge else { return true }
        return places.isNamed && (try? client.obstacle(toReading: places.configuration)) != nil
    }

    /// The warnings of a daemon that does not run. The configuration of one that another socket was named for is not known.
    private static func foreseen(_ client: ControlClient, _ places: NamedPlaces) -> [BridgeFacts.Warning] {
        guard places.isNamed || client.socketPath == BridgePlaces.mine.controlSocket else { return [] }
        let ofSystem = BridgePlaces.machine.configuration
        let folder = places.isNamed || !client.isOfSystem ? places.configuration : ofSystem
        return ConfigurationLook(in: folder).warnings.map { warning in
            BridgeFacts.Warning(
                Finding.Code(rawValue: warning.code.rawValue) ?? .handlerRights, warning.what, warning.why,
                warning.advice)
        }
    }
}

extension AccessoryKnowledge {
    fileprivate static func ofProfiles(in places: NamedPlaces) -> AccessoryKnowledge {
        let library = places.library
        let used = ProfileFolder.inUse(of: library, in: places.configuration)
        let isNeeded = used.contains { $0.accessory.map { $0.node != .rfcomm } ?? false }
        return AccessoryKnowledge(
            defaultGroup: UdevRules.group,
            identify: { properties, node in
                let index = library.matchAccessory(properties: properties) { profile in
                    node.map { profile.node == $0 } ?? (profile.node != .rfcomm)
                }
                return index.map(library.name)
            },
            rules: { group in
                guard isNeeded else { return .none }
                do throws(UdevRulesFault) {
                    return .text(try UdevRules(used, group: group).text)
                } catch { return .unmade(error.description) }
            })
    }
}

extension ControlClient {
    private static let patience = TimeSpan.seconds(5)

    fileprivate func state(on machine: MachineLook) -> BridgeState {
        do throws(SystemError) { try BridgePlaces.check(socketPath) } catch { return .refused(error.description) }
        do throws(SystemError) {
            _ = try UnixSocket.connect(to: socketPath)
        } catch {
            switch error.errno {
            case .noEntry: return .absent(socket: socketPath + norOther)
            case .connectionRefused: return .dead(socket: socketPath)
            case .denied, .notPermitted: return .denied(socket: socketPath)
            // A socket exists, but its daemon accepts no connections.
            case .wouldBlock: return .silent(socket: socketPath)
            default: return .refused(error.description)
            }
        }
        let start = SystemClock.monotonic()
        do throws(Complaint) {
            var facts = BridgeFacts(status: try ask(.get, "/v1/status", within: Self.patience).json)
            let letters = try ask(.get, "/v1/dead-letters", within: Self.patience).json
            facts.deadLetters = letters.list("dead_letters").count
            facts.lackingCapabilities = machine.lackingCapabilities(of: facts.process)
            return .running(facts)
        } catch {
            if SystemClock.monotonic() - start >= Self.patience { return .silent(socket: socketPath) }
            return .refused(error.sentence)
        }
    }
}

extension Findings {
    var text: String { all.map(\.text).joined() }

    fileprivate var json: [UInt8] {
        JSONWriter.line { writer in
            writer.field("severity", worst.severity)
            writer.field("worst", worst.olderName)
            writer.objects("findings", all) { $1.write(to: &$0) }
        }
    }
}

extension Finding {
    private static let margin = String(repeating: " ", count: 9)

    /// It contains names from other devices, so nothing in it may steer the terminal.
    fileprivate var text: String {
        let padding = Self.margin.dropFirst(level.severity.count)
        var lines = [Console.styled(level.severity, level.style) + padding + what.printable]
        if !why.isEmpty { lines.append(Self.margin + why.printable) }
        switch remedy {
        case .run(let command): lines.append(Self.margin + "fix: " + Console.styled(command.printable, .bold))
        case .act(let advice): lines.append(Self.margin + "fix: " + advice.printable)
        case nil: break
        }
        return lines.joined(separator: "\n") + "\n"
    }

    fileprivate func write(to writer: inout JSONWriter) {
        var (command, advice): (String?, String?)
        switch remedy {
        case .run(let text): command = text
        case .act(let text): advice = text
        case nil: break
        }
        writer.field("severity", level.severity)
        writer.field("level", level.olderName)
        writer.field("code", code.rawValue)
        writer.field("what", what)
        writer.field("why", why)
        writer.field("command", command)
        writer.field("advice", advice)
    }
}

extension Finding.Level {
    fileprivate var style: Console.Style {
        switch self {
        case .ok: .green
        case .note: .dim
        case .warning: .yellow
        case .fault: .red
        }
    }
}
