// wakebridge profile: a device profile to begin with, and whether one makes of published messages what they mean.
import WakeArguments
import WakeAuthoring
import WakeDaemon
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

extension Verb {
    static var profile: Verb {
        Verb(
            name: "profile", summary: "draft a device profile, or check one against published messages",
            synopsis: [
                "new [--from DEVICE | --trace FILE] [--directory DIR | --config DIR] [--json] NAME",
                "check [--trace FILE] [--json] FOLDER…",
            ],
            detail: """
                'new' writes Devices/NAME/profile.json5 into the configuration directory, or into DIR, and overwrites nothing. With
                --from its match is what identifies that DEVICE: an address, an alias, a name, or a node such as /dev/ttyACM0. With
                --trace it is drafted from a trace or a capture: services, channels, and what changes in their messages.

                'check' reads FOLDER/profile.json5 as the daemon does, then plays FOLDER/vectors.json5 to it: messages that were
                published, and the value of each. Tells every fault with its line, and every message that comes out otherwise.
                Exit status 1 if there is one. A characteristic in notify without fields is a warning. With --trace, so is a
                service of match that no device of the trace offers; 'wakebridge check --trace' decodes a trace.
                """,
            examples: ["wakebridge profile new strap --trace ride.trace", "wakebridge profile check Devices/*/"],
            flags: [
                Flag("from", value: "DEVICE", "match what this device shows"),
                Flag(
                    "trace", short: "t", value: "FILE",
                    "draft it from this trace or capture; of check: compare match with it"),
                Flag("directory", value: "DIR", "write it there"),
                NamedPlaces.configFlag,
                Flag("json", short: "j", "print what was written or found as JSON"),
            ] + daemonFlags,
            operands: [
                .word([.init(word: "new", then: [.free]), .init(word: "check", then: [.several(.directory)])])
            ]
        ) { words throws(Complaint) in
            switch words.operands.first {
            case "new": return try writeProfile(words)
            case "check": return try checkProfiles(words)
            case let other?:
                throw .usage("'\(other)' is no deed of it.\(suggestion(for: other, among: ["new", "check"]))")
            case nil: throw .usage("say what: new or check")
            }
        }
    }
}

private func writeProfile(_ words: ParsedArguments) throws(Complaint) -> Int32 {
    guard words.operands.count > 1 else { throw .usage("the profile needs a NAME") }
    try words.atMost(2)
    let made = try NewProfile(words).write()
    Console.print(words.has("json") ? made.json : Array(made.text.utf8))
    return 0
}

private func checkProfiles(_ words: ParsedArguments) throws(Complaint) -> Int32 {
    try words.atMost(.max)
    let folders = words.operands.dropFirst()
    guard !folders.isEmpty else { throw .usage("a FOLDER must be named") }
    var checks: [CheckedFolder] = []
    var unread: Complaint?
    for folder in folders {
        do throws(Complaint) { checks.append(try CheckedFolder(folder, trace: words.value("trace"))) } catch {
            // A pattern such as Devices/*/ also names folders without a profile.
            guard folders.count > 1, !File.exists("\(folder)/profile.json5") else {
                unread = unread ?? error
                continue
            }
            Console.say("warning: \(folder.printable) has no profile.json5; it is left out")
        }
    }
    if checks.isEmpty { throw unread ?? .failure("none of these folders has a profile.json5; name one that has") }
    Console.print(words.has("json") ? CheckedFolder.json(checks) : Array(checks.map(\.text).joined().utf8))
    if let unread { throw unread }
    return checks.contains(where: \.isFaulty) ? 1 : 0
}

/// A folder with all its findings.
private struct CheckedFolder {
    let folder: String
    private var faults: [String] = []
    private var warnings: [String] = []
    private var vectors: [Vector] = []

    init(_ folder: String, trace: String?) throws(Complaint) {
        self.folder = folder
        let path: String
        do throws(SystemError) { path = try File.absolute(folder) } catch {
            throw .failure("cannot check \(folder): \(error); name a folder that is there")
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let text = try Self.text(of: "\(path)/profile.json5")
        let shared = ProfileFolder.shared(beside: path)
        let (library, errors) = ProfileLibrary.load(
            [ProfileLibrary.Source(name: name, file: "\(folder)/profile.json5", text: text)], shared: shared)
        faults = errors.map(\.description)
        guard let index = library.index(named: name) else { return }
        let review = ProfileReview(of: library[index], text: text, file: "\(folder)/profile.json5")
        warnings = try review.warnings(with: trace).map(\.description)
        let file = "\(path)/vectors.json5"
        guard File.exists(file) else { return }
        let published = try Self.text(of: file)
        do throws(ConfigurationErrors) {
            vectors = try Vector.read(published, file: "\(folder)/vectors.json5", kind: library.head(index).kind)
        } catch { faults += error.all.map(\.description) }
        faults += VectorCheck.mismatches(vectors, index, of: library).map { "\(folder)/vectors.json5: \($0)" }
    }

    private static func text(of file: String) throws(Complaint) -> [UInt8] {
        do throws(SystemError) { return try File.bytes(at: file, limit: 1 << 20) } catch {
            throw .failure("cannot read \(file): \(error)")
        }
    }

    var isFaulty: Bool { !faults.isEmpty }

    var text: String {
        var sum = "\(folder): \(vectors.count.counted("message")), \(faults.count.counted("fault"))"
        if !warnings.isEmpty { sum += ", \(warnings.count.counted("warning"))" }
        return (faults + warnings.map { "warning: \($0)" } + [sum]).map { $0.printable + "\n" }.joined()
    }

    static func json(_ checks: [CheckedFolder]) -> [UInt8] {
        JSONWriter.line { writer in
            writer.objects("folders", checks) { writer, check in
                writer.field("folder", check.folder)
                writer.field("messages", check.vectors.count)
                writer.field("faults", check.faults)
                writer.field("warnings", check.warnings)
            }
        }
    }
}

extension ProfileReview {
    /// - Parameter trace: a file whose devices the profile should match; nil for none.
    func warnings(with trace: String?) throws(Complaint) -> [ConfigurationError] {
        guard let trace else { return undecodedNotifications }
        do {
            let chunks = try FileChunks(trace)
            var reader = TraceReader(supplyingChunks: chunks.next)
            let header = try reader.header()
            if let failure = chunks.failure { throw failure }
            return undecodedNotifications + servicesLacking(in: header, of: trace)
        } catch { throw .failure("cannot read \(trace): \(error)") }
    }
}
