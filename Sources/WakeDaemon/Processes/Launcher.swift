// How a manifest becomes a process: its environment, its user, its own directory, and the container it is born into.
import WakeCore
import WakeModel
import WakeSystem

struct Launcher {
    let suspension: Suspension
    /// Where each handler has a directory of its own.
    let stateDirectory: String

    /// Each handler's directory is its own alone; those above are ours, and it only passes through them.
    init(suspension: Suspension, bridgeStateDirectory: String) {
        self.suspension = suspension
        stateDirectory = bridgeStateDirectory + "/handlers"
        directoriesAbove = [bridgeStateDirectory, stateDirectory]
    }

    private let directoriesAbove: [String]

    /// Starts the program, suspended; it runs from the first thaw.
    func start(
        _ manifest: HandlerManifest, epoch: Epoch, reason: WakeReason
    ) throws(SystemError) -> ChildProcess {
        let account = try account(of: manifest)
        let directory = try makeDirectory(for: manifest, account)
        var request = SpawnRequest(
            executable: try Executable.find(manifest.exec[0]), arguments: manifest.exec,
            environment: environment(of: manifest, reason, directory, account),
            directory: manifest.workingDirectory ?? directory, account: account)
        request.diesWithDaemon = true
        return try ChildProcess.spawn(request, into: makeContainer(named: "\(manifest.id)-\(epoch.rawValue)"))
    }

    private func makeContainer(named name: String) throws(SystemError) -> ProcessContainer {
        switch suspension {
        case .cgroup(let tree): .cgroup(try tree.makeLeaf(named: name))
        case .stopSignals: .processGroup(ProcessGroup())
        }
    }

    /// Nil where the handler runs as we do.
    private func account(of manifest: HandlerManifest) throws(SystemError) -> Account? {
        guard let user = manifest.user else { return nil }
        let account = try Account(named: user, group: manifest.group)
        return account.isCurrent && manifest.group == nil ? nil : account
    }

    private func makeDirectory(for manifest: HandlerManifest, _ account: Account?) throws(SystemError) -> String {
        let path = "\(stateDirectory)/\(manifest.id)"
        try Directory.create(path)
        guard let account else { return path }
        for directory in directoriesAbove { try Directory.letThrough(directory) }
        try File.setOwner(of: path, to: account)
        return path
    }

    /// Nothing of ours leaks in: a handler sees what its manifest says and what the protocol names.
    private func environment(
        of manifest: HandlerManifest, _ reason: WakeReason, _ directory: String, _ account: Account?
    ) -> [(name: String, value: String)] {
        let user = account ?? (try? Account.current())
        var variables: [(name: String, value: String)] = [
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("LANG", "C.UTF-8"),
        ]
        if let user { variables += [("HOME", user.home), ("USER", user.name), ("LOGNAME", user.name)] }
        variables += [
            ("WAKEBRIDGE_PROTOCOL", "1"), ("WAKEBRIDGE_HANDLER", manifest.id), ("WAKEBRIDGE_REASON", reason.written),
            ("WAKEBRIDGE_FD", "3"), ("WAKEBRIDGE_STATE_DIR", directory),
        ]
        let own = manifest.environment.sorted { $0.key < $1.key }
        return variables.filter { variable in !own.contains { $0.key == variable.name } }
            + own.map { (name: $0.key, value: $0.value) }
    }
}
