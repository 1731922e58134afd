// A handler to begin with: its program, its manifest, and where both go.
import Glibc
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

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
    private let template: HandlerTemplate?
    private let directory: String
    /// It is where a daemon of this user looks for manifests.
    private let isTakenUp: Bool

    init(_ words: ParsedArguments) throws(Complaint) {
        name = words.operands[1]
        guard HandlerManifest.isIdentifier(name) else {
            throw .usage(
                "'\(name.printable)' cannot be a handler's name: use up to 64 of a-z, 0-9, '-', '_' and '.', first a letter or digit"
            )
        }
        if words.has("config"), words.has("directory") { throw .usage("--config and --directory exclude each other") }
        let places = try NamedPlaces(words)
        (profile, device) = try Self.watched(words, places.library)
        template = try HandlerTemplate.named(
            words.value("template"), language: words.value("language"), for: name)
        let usual = template == nil ? Language.shell : Language.python
        let said = words.value("language") ?? usual.rawValue
        guard let language = Language(rawValue: said) else {
            let known = Language.allCases.map(\.rawValue)
            throw .usage(
                "--language '\(said)' is none of \(known.joined(separator: ", ")).\(suggestion(for: said, among: known))"
            )
        }
        self.language = language
        directory = try Self.directory(words.value("directory"), language, name: name) ?? places.manifests
        isTakenUp = directory == places.manifests && !places.isNamed
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

    /// The profile that the words name, else that of the device; and the device's name in a manifest.
    private static func watched(
        _ words: ParsedArguments, _ library: ProfileLibrary
    ) throws(Complaint) -> (Profile, device: String?) {
        if let name = words.value("profile") { return (try profile(named: name, library), words.value("device")) }
        guard let word = words.value("device") else {
            throw .usage(
                "say whose events it gets, with --profile or --device; 'wakebridge scan --all' shows the profiles of what is here"
            )
        }
        let told = try words.client.device(named: word)
        guard let name = told.profile else {
            throw .notFound(
                "no profile knows '\(told.alias.printable)'; name one with --profile, or write one with 'wakebridge profile new'"
            )
        }
        return (try profile(named: name, library), word == told.source ? word : told.alias)
    }

    private static func profile(named name: String, _ library: ProfileLibrary) throws(Complaint) -> Profile {
        if let index = library.index(named: name) { return library[index] }
        throw .usage(
            "there is no profile '\(name.printable)'.\(suggestion(for: name, among: library.names)) "
                + "'wakebridge scan --all' shows the profiles of what is here")
    }

    func write() throws(Complaint) -> NewFiles {
        switch language {
        case .shell: try write(HandlerText.shell(self), "\(name).sh")
        case .python:
            try write(
                template?.program(of: self) ?? HandlerText.python(self), "\(name).py", pythonPath: PythonModule.path())
        case .swift: try HandlerPackage(of: self, in: directory).write()
        }
    }

    /// The manifest comes last: a daemon takes it up at once, and starts the program.
    private func write(
        _ program: String, _ file: String, pythonPath: String? = nil
    ) throws(Complaint) -> NewFiles {
        let (path, manifest) = ("\(directory)/\(file)", "\(directory)/\(name).json5")
        try NewFiles.refuse(path, manifest)
        var files = NewFiles()
        try files.add(path, program, mode: 0o755)
        let variables =
            [pythonPath.map { (PythonModule.variable, $0) }].compactMap { $0 } + (template?.variables(of: self) ?? [])
        try files.add(
            manifest,
            HandlerText.manifest(
                self, ["./\(file)"], isRoot: geteuid() == 0, variables: variables, keys: template?.keys(of: self) ?? [])
        )
        files.next = open(manifest) + next(path, manifest)
        return files
    }

    /// A template that sends something goes nowhere before a person has named the place.
    private func open(_ manifest: String) -> [String] {
        guard let open = template?.open, !open.isEmpty else { return [] }
        return [
            "${EDITOR:-nano} \(manifest.asShellWord)  # set \(open.joined(separator: ", ")), and remove enabled: false"
        ]
    }

    private func next(_ path: String, _ manifest: String) -> [String] {
        isTakenUp
            ? ["wakebridge logs -f \(name)", "wakebridge simulate wake \(name)"]
            : [
                "wakebridge check \(manifest.asShellWord)",
                "wakebridge run --manifest \(manifest.asShellWord) -- \(path.asShellWord)",
            ]
    }
}
