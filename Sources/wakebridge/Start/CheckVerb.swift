// wakebridge check: what is wrong with manifests, profiles and settings, before a daemon takes them.
import Glibc
import WakeArguments
import WakeAuthoring
import WakeDaemon
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

extension Verb {
    static var check: Verb {
        Verb(
            name: "check", summary: "what is wrong with a manifest, a profile or settings, and how a profile decodes",
            synopsis: ["[--trace FILE] [--config DIR] [--profiles DIR] [--json] FILE…"],
            detail: """
                Reads each FILE as the daemon does, and changes nothing. It shows all faults in one pass, each with its line: a
                wrong key or value, an unknown profile, user or group, and a program or script that is not there or that its
                user may not run. A path or a
                time zone that is not there is a warning, and so is a device that is not known, if the daemon or bluetoothd
                can be asked. Exit status 1 if there is a fault.

                With --trace a profile decodes what the trace recorded: a line for each value, and their sum. A value that
                does not fit the profile is a fault. A service of its match that no device of the trace offers is a warning,
                and so is a characteristic in notify that has no fields.
                """,
            examples: [
                "wakebridge check /etc/wakebridge/handlers.d/hr.json5",
                "wakebridge check --trace ride.trace Devices/strap/profile.json5",
            ],
            flags: [
                Flag("trace", short: "t", value: "FILE", "decode this trace with the profile"),
                Flag("json", short: "j", "print what was found as JSON"),
            ] + NamedPlaces.flags + daemonFlags,
            operands: [.several(.file)]
        ) { words throws(Complaint) in
            try words.atMost(.max)
            guard !words.operands.isEmpty else { throw .usage("a FILE must be named") }
            var checks: [CheckedFile] = []
            var unread: Complaint?
            for file in words.operands {
                do throws(Complaint) { checks.append(try CheckedFile(file, words)) } catch {
                    guard !error.isUsage else { throw error }
                    unread = unread ?? error
                }
            }
            // An unreadable file does not hide the faults of the others.
            if !checks.isEmpty {
                Console.print(words.has("json") ? CheckedFile.json(checks) : Array(checks.map(\.text).joined().utf8))
            }
            if let unread { throw unread }
            return checks.contains(where: \.isFaulty) ? 1 : 0
        }
    }
}

/// A file with all its findings.
private struct CheckedFile {
    let file: String
    private let check: ConfigurationCheck
    private let warnings: [String]
    private let decoding: TraceDecoding?

    init(_ file: String, _ words: ParsedArguments) throws(Complaint) {
        self.file = file
        let text: [UInt8]
        do {
            let path = try File.absolute(file)
            let places = try NamedPlaces(words)
            // It may belong to the user that called sudo, until it is put in place.
            let caller = geteuid() == 0 ? try HandlerManifest.callerOfSudo()?.user : nil
            text = try TrustedFile.bytes(at: path, limit: 1 << 20, trustingAlso: caller)
            let isRoot = geteuid() == 0 || path.hasPrefix(BridgePlaces.machine.configuration + "/")
            check = ConfigurationCheck(of: path, text: text, isRoot: isRoot, profiles: places.library)
        } catch {
            let isAbsent = (error as? SystemError)?.errno == .noEntry
            throw .failure("cannot check \(file): \(error)\(isAbsent ? "; name a file that is there" : "")")
        }
        let names = check.manifest.map(\.namesDevices) == true ? KnownNames.all(words) : nil
        let review = check.profile.map { ProfileReview(of: $0, text: text, file: file) }
        warnings =
            (names.map(check.warnings) ?? []) + check.warningsOfPlaces
            + (try review?.warnings(with: words.value("trace")).map(\.located) ?? [])
        guard let trace = words.value("trace") else {
            decoding = nil
            return
        }
        guard check.kind == .profile else { throw .usage("--trace goes with a profile, and \(file) is none") }
        decoding = try check.decoder.map { decoder throws(Complaint) in try TraceDecoding(of: trace, by: decoder) }
    }

    var isFaulty: Bool { !check.faults.isEmpty || (decoding?.misfits ?? 0) > 0 }

    var text: String {
        var lines = check.faults.map { "\(file): \($0.located)" } + warnings.map { "\(file): warning: \($0)" }
        if check.faults.isEmpty { lines.append("\(file): \(check.kind.rawValue) without a fault") }
        return lines.map { $0.printable + "\n" }.joined() + (decoding?.text ?? "")
    }

    static func json(_ checks: [CheckedFile]) -> [UInt8] {
        JSONWriter.line { writer in writer.objects("files", checks) { $1.write(to: &$0) } }
    }

    private func write(to writer: inout JSONWriter) {
        writer.field("file", file)
        writer.field("kind", check.kind.rawValue)
        writer.objects("faults", check.faults) { writer, fault in
            writer.field("line", fault.line)
            writer.field("column", fault.column)
            writer.field("fault", fault.sentence)
        }
        writer.field("warnings", warnings)
        decoding?.write(to: &writer)
    }
}

extension HandlerManifest {
    fileprivate var namesDevices: Bool { settings.subscriptions.contains { $0.device != nil } }
}

/// The names of devices that the daemon knows, else those that bluetoothd keeps.
private enum KnownNames {
    static func all(_ words: ParsedArguments) -> [(alias: String, source: String)]? {
        if let answer = try? words.client.ask(.get, "/v1/devices", within: .seconds(5)).json {
            return answer.list("devices").map { ($0["alias"]?.string ?? "", $0["source"]?.string ?? "") }
        }
        guard let station = try? BluetoothStation() else { return nil }
        return station.client.mirror.peripherals.values.filter(\.isAdopted).map { ($0.alias, $0.uri) }
    }
}
