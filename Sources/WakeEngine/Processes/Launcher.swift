// Starts a manifest's process: its environment, its user, its directory and its container.
import WakeAgenda
import WakeCore
import WakeModel
import WakeSystem

struct Launcher {
    let suspension: Suspension
    /// Where each handler has a directory of its own.
    let stateDirectory: String

    private let accounts: AccountBook
    private let handOvers = StateHandOvers()
    let sockets = SocketShelf()

    /// Each handler may read only its own directory. Those above belong to the daemon, and it may only pass through them.
    init(suspension: Suspension, accounts: AccountBook, bridgeStateDirectory: String, runtimeDirectory: String) {
        self.suspension = suspension
        self.accounts = accounts
        stateDirectory = Self.stateDirectory(below: bridgeStateDirectory)
        directoriesAbove = [bridgeStateDirectory, stateDirectory]
        self.runtimeDirectory = runtimeDirectory
        // Sockets of an earlier run of the daemon.
        Directory.removeTree(noticeDirectory)
    }

    static func stateDirectory(below bridgeStateDirectory: String) -> String { bridgeStateDirectory + "/handlers" }

    private let directoriesAbove: [String]
    private let runtimeDirectory: String
    /// Bytes; nil where the kernel does not report them.
    private let machineMemory = (try? MemoryPressure.memory()).map { Int(clamping: $0.total) }
    private var noticeDirectory: String { "\(runtimeDirectory)/notify" }

    /// The process's NOTIFY_SOCKET. A path, not an abstract name: any user may write to an abstract socket, and could fill its short
    /// queue so that the handler's messages get lost.
    func makeServiceSocket(
        for manifest: HandlerManifest, _ id: HandlerID, _ epoch: Epoch, closings: ForeignClosings
    ) throws(SystemError) -> DatagramSocket? {
        guard manifest.notifies else { return nil }
        guard !closings.isFull else {
            throw SystemError(
                "make the notification socket of", manifest.name, .wouldBlock,
                advice:
                    "what its earlier processes sent there is still being closed; find out which descriptors it sends")
        }
        let account = try accounts.switching(for: manifest)
        try Directory.create(noticeDirectory)
        if account != nil {
            for directory in [runtimeDirectory, noticeDirectory] { try Directory.letThrough(directory) }
        }
        // Numbers, not names: sun_path has room for 107 bytes.
        return try DatagramSocket(
            at: "\(noticeDirectory)/\(id.rawValue)-\(epoch.rawValue)", owner: account, closings: closings)
    }

    /// The user whose messages count as the handler's.
    func user(of manifest: HandlerManifest) throws(SystemError) -> UInt32 {
        if let account = try accounts.switching(for: manifest) { return account.user }
        return try accounts.current().user
    }

    /// Starts the program, suspended; it runs from the first thaw.
    func start(
        _ manifest: HandlerManifest, _ id: HandlerID, epoch: Epoch, reason: WakeReason, noticesTo notices: String? = nil
    ) throws(SystemError) -> ChildProcess {
        let account = try accounts.switching(for: manifest)
        let directory = try makeDirectory(for: manifest, account)
        var request = SpawnRequest(
            executable: try Executable.find(manifest.exec[0]), arguments: manifest.exec,
            environment: environment(of: manifest, reason, directory, account),
            directory: manifest.workingDirectory ?? directory, account: account)
        if let notices { request.environment.append((name: "NOTIFY_SOCKET", value: notices)) }
        request.diesWithDaemon = true
        let channel = try makeChannel(for: manifest)
        inherit(id, channel, &request)
        request.limits = manifest.limits.ofProcess(
            isContained: suspension.containment.limitsProcesses, isAlone: manifest.hasOwnUser)
        let container = try suspension.makeContainer(
            named: "\(manifest.id)-\(epoch.rawValue)", manifest.limits.ofLeaf(machineMemory: machineMemory))
        let child = try ChildProcess.spawn(request, into: container)
        channel?.releaseChildEnd()
        sockets.setChannel(channel, of: id)
        return child
    }

    /// Over it the process is passed sockets that open while it runs; nil where its manifest asks for none of that.
    private func makeChannel(for manifest: HandlerManifest) throws(SystemError) -> DescriptorChannel? {
        manifest.agenda.sockets.contains { $0.passing == .pass } ? try DescriptorChannel() : nil
    }

    private func inherit(_ id: HandlerID, _ channel: DescriptorChannel?, _ request: inout SpawnRequest) {
        let inheritance = sockets.inheritance(of: id)
        request.inherited = inheritance.descriptors
        if !inheritance.descriptors.isEmpty {
            request.environment.append((name: "WAKEBRIDGE_SOCKETS", value: inheritance.names))
        }
        guard let end = channel?.childEnd else { return }
        let unused = SocketRule.limit - request.inherited.count
        request.inherited += [Int32](repeating: -1, count: unused) + [end]
        request.environment.append((name: "WAKEBRIDGE_SOCKETS_FD", value: "\(SocketRule.channelNumber)"))
    }

    private func makeDirectory(for manifest: HandlerManifest, _ account: Account?) throws(SystemError) -> String {
        let path = "\(stateDirectory)/\(manifest.id)"
        try Directory.create(path)
        guard let account else { return path }
        for directory in directoriesAbove { try Directory.letThrough(directory) }
        try settleFormerOwner(of: path, account, givesFiles: manifest.hasOwnUser)
        try File.setOwner(of: path, to: account)
        return path
    }

    /// Files go with the directory only to a handler's own user. Files of root stay with root.
    private func settleFormerOwner(of path: String, _ account: Account, givesFiles: Bool) throws(SystemError) {
        guard let former = File.owner(of: path), former != account.user else { return }
        guard givesFiles, former != 0 else { return warnOfFormerOwner(of: path, account) }
        try handOvers.give(path, from: former, to: account)
    }

    private func warnOfFormerOwner(of path: String, _ account: Account) {
        guard let names = try? Directory.names(in: path), !names.isEmpty else { return }
        let owner = account.isUnlisted ? "\(account.user):\(account.group)" : account.name
        Log("handlers").warning(
            "\(path) was another user's, and the files in it still are: give them to the handler with 'chown -R \(owner) \(path)'"
        )
    }

    /// Only the manifest's variables and the protocol's, none of the daemon's.
    func environment(
        of manifest: HandlerManifest, _ reason: WakeReason, _ directory: String, _ account: Account?
    ) -> [(name: String, value: String)] {
        let user = account ?? (try? accounts.current())
        var variables: [(name: String, value: String)] = [
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("LANG", "C.UTF-8"),
        ]
        if let user { variables += [("HOME", user.home), ("USER", user.name), ("LOGNAME", user.name)] }
        variables += [
            ("WAKEBRIDGE_PROTOCOL", "1"), ("WAKEBRIDGE_HANDLER", manifest.name), ("WAKEBRIDGE_REASON", reason.wireName),
            ("WAKEBRIDGE_FD", "3"), ("WAKEBRIDGE_STATE_DIR", directory),
        ]
        if let device = manifest.instance?.device { variables.append(("WAKEBRIDGE_DEVICE", device)) }
        let own = manifest.environment.sorted { $0.key < $1.key }
        return variables.filter { variable in !own.contains { $0.key == variable.name } }
            + own.map { (name: $0.key, value: $0.value) }
    }
}
