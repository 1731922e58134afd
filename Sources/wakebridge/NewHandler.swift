// A handler to begin with: its program, its manifest, and where both go.
import Glibc
import WakeDaemon
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem
import WakeWords

struct NewHandler {
    enum Language: String, CaseIterable {
        case shell
        case python
        case swift
    }

    let name: String
    let profile: Profile
    let device: String?
    private let language: Language
    private let directory: String
    /// It is where a daemon of this user looks for manifests.
    private let isTakenUp: Bool

    init(_ words: ParsedWords) throws(Complaint) {
        name = words.operands[1]
        guard HandlerManifest.isIdentifier(name) else {
            throw .usage(
                "'\(name.printable)' cannot be a handler's name: use up to 64 of a-z, 0-9, '-', '_' and '.', first a letter or digit"
            )
        }
        device = words.value("device")
        profile = try Self.profile(words, device)
        let said = words.value("language") ?? Language.shell.rawValue
        guard let language = Language(rawValue: said) else {
            let known = Language.allCases.map(\.rawValue)
            throw .usage(
                "--language '\(said)' is none of \(known.joined(separator: ", ")).\(suggestion(for: said, among: known))"
            )
        }
        self.language = language
        let manifests = BridgePlaces.mine.configuration + "/handlers.d"
        directory = try Self.directory(words.value("directory"), language, name: name) ?? manifests
        isTakenUp = directory == manifests
    }

    /// Nil for the place of manifests. A package is built where you work.
    private static func directory(
        _ said: String?, _ language: Language, name: String
    ) throws(Complaint) -> String? {
        do throws(SystemError) {
            if let said { return try File.absolute(said) }
            return language == .swift ? try Directory.current() + "/" + name : nil
        } catch { throw .failure("cannot find a place for \(name): \(error.description)") }
    }

    private static func profile(_ words: ParsedWords, _ device: String?) throws(Complaint) -> Profile {
        let library = ProfileLibrary.known()
        var name = words.value("profile")
        if name == nil, let device {
            let known = try words.client.ask(.get, "/v1/devices").json.list("devices")
            guard let meant = known.first(where: { $0["alias"]?.string == device || $0["source"]?.string == device })
            else {
                let names = known.compactMap { $0["alias"]?.string }
                throw .failure(
                    "the daemon knows no device '\(device.printable)'; name its profile with --profile."
                        + suggestion(for: device, among: names).printable)
            }
            name = meant["profile"]?.string
        }
        let list = library.names.joined(separator: ", ")
        guard let name else {
            throw .usage("say whose events it gets, with --profile or --device; profiles are: \(list)")
        }
        guard let index = library.index(named: name) else {
            throw .usage(
                "there is no profile '\(name)'.\(suggestion(for: name, among: library.names)) Profiles are: \(list)")
        }
        return library[index]
    }

    func write() throws(Complaint) -> NewFiles {
        switch language {
        case .shell: try write(HandlerText.shell(self), "\(name).sh")
        case .python: try write(HandlerText.python(self), "\(name).py")
        case .swift: try HandlerPackage(of: self, in: directory).write()
        }
    }

    /// The manifest comes last: a daemon takes it up at once, and starts the program.
    private func write(_ program: String, _ file: String) throws(Complaint) -> NewFiles {
        let (path, manifest) = ("\(directory)/\(file)", "\(directory)/\(name).json5")
        try NewFiles.refuse(path, manifest)
        var files = NewFiles()
        try files.add(path, program, mode: 0o755)
        try files.add(manifest, HandlerText.manifest(self, ["./\(file)"], isRoot: geteuid() == 0))
        files.next =
            isTakenUp
            ? ["wakebridge logs -f \(name)", "wakebridge simulate wake \(name)"]
            : [
                "wakebridge check \(manifest.asShellWord)",
                "wakebridge run --manifest \(manifest.asShellWord) -- \(path.asShellWord)",
            ]
        return files
    }
}
