// A handler process: its container, its pidfd, the pipes to and from it, and how it ended.
import CLinux
import Glibc
import WakeModel

/// A started process, with its container. Releasing this value closes the descriptors; it neither kills the process nor
/// removes the container.
public struct ChildProcess: ~Copyable {
    public let executable: String
    private let workingDirectory: String
    public let pid: Int32
    /// Becomes readable when the process has ended.
    public let pidfd: FileDescriptor
    public let container: ProcessContainer
    /// The child's standard input; closing it gives the child end-of-file.
    public var input: PipeEnd
    /// Our end of the pipe that is the child's descriptor 3. A socket would carry descriptors too, and reading it would close them here.
    public var replies: PipeEnd
    public var output: PipeEnd
    public var errors: PipeEnd
    /// Readable when it is known whether the program could be executed: see `startupOutcome()`.
    public let startup: FileDescriptor

    /// Bytes that a suspended reader may leave unread before a write would block; less where the kernel grants less.
    public static let inputCapacity: Int32 = 256 << 10
    /// Bytes that the child may write before a write waits for the daemon; less if the kernel grants less.
    public static let replyCapacity: Int32 = 256 << 10

    /// Starts the child in `container`, which must be new; it is kept, or removed if this fails. The child starts suspended:
    /// it executes the program when the container is thawed.
    public static func spawn(_ request: SpawnRequest, into container: consuming ProcessContainer)
        throws(SystemError) -> ChildProcess
    {
        do {
            let channels = try Channels()
            let (pid, pidfd) = try launch(request, at: container.birthplace(), with: channels)
            container.adopt(pid)
            return ChildProcess(
                request, pid: pid, pidfd: pidfd, container: container, channels: channels.releaseOurEnds())
        } catch {
            container.remove()
            throw error
        }
    }

    private init(
        _ request: SpawnRequest, pid: Int32, pidfd: Int32, container: consuming ProcessContainer, channels: OurEnds
    ) {
        executable = request.executable
        workingDirectory = request.directory ?? "."
        self.pid = pid
        self.pidfd = FileDescriptor(owning: pidfd)
        self.container = container
        input = PipeEnd(owning: channels.input)
        replies = PipeEnd(owning: channels.replies)
        output = PipeEnd(owning: channels.output)
        errors = PipeEnd(owning: channels.errors)
        startup = FileDescriptor(owning: channels.startup)
    }

    /// Sends a signal to the main process only; a process that has ended is no error. A suspended process gets it when it is
    /// thawed, SIGKILL at once.
    public borrowing func signal(_ number: Int32) throws(SystemError) {
        let handle = pidfd.raw
        switch attemptC({ clinux_pidfd_send_signal(handle, number) }) {
        case .value, .failure(.noSuchProcess): return
        case .failure(let errno): throw SystemError("send signal \(number) to", "process \(pid)", errno)
        }
    }

    /// How the main process ended, returned once; nil while it runs. Never waits.
    public borrowing func reap() throws(SystemError) -> ExitStatus? {
        var end = clinux_exit()
        let handle = pidfd.raw
        guard try attemptC({ clinux_reap(handle, &end) }).get("reap", "process \(pid)") == 1 else { return nil }
        container.leaderWasReaped()
        return switch Int(end.code) {
        case Int(CLD_EXITED): .exited(code: end.status)
        default: .signalled(end.status)
        }
    }

    /// Kills a child that no one will watch, and removes its container. The child is still suspended, so it has no
    /// children. SIGKILL ends it at once, or a little later on a busy machine, which no caller waits for.
    public borrowing func abandon() {
        try? signal(SIGKILL)
        var end = pollfd(fd: pidfd.raw, events: Int16(POLLIN), revents: 0)
        if poll(&end, 1, 50) == 0 { return seeOff() }
        _ = try? reap()
        _ = container.remove()
    }

    /// A container that cannot be removed is left to the next sweep.
    private borrowing func seeOff() {
        let (pid, leaf) = (pid, container.leaf)
        try? WorkThread.begin {
            waitpid(pid, nil, 0)
            if let leaf { rmdir(leaf) }
        }
    }

    /// Whether the program could be executed, as far as it is known now.
    public borrowing func startupOutcome() throws(SystemError) -> StartupOutcome {
        var bytes: [UInt8] = []
        switch try startup.read(appendingTo: &bytes, limit: MemoryLayout<clinux_startup_failure>.size) {
        case .wouldBlock: return .pending
        case .endOfFile, .closed: return .executed
        // Shorter than PIPE_BUF, so it arrives whole.
        case .bytes: break
        }
        let failure = bytes.withUnsafeBytes { $0.loadUnaligned(as: clinux_startup_failure.self) }
        let stage = StartupStage(rawValue: failure.stage) ?? .execute
        let subject = stage == .directory ? "\(executable) (\(workingDirectory))" : executable
        return .failed(stage: stage, error: SystemError(stage.attempt, subject, Errno(code: failure.error)))
    }

    private static func launch(_ request: SpawnRequest, at cgroup: Int32, with channels: borrowing Channels)
        throws(SystemError) -> (pid: Int32, pidfd: Int32)
    {
        var pidfd: Int32 = -1
        var raw = clinux_spawn_request()
        raw.descriptors = channels.childDescriptors()
        raw.startup = channels.startup.writeEnd.raw
        raw.cgroup = cgroup
        raw.stop = cgroup < 0
        raw.die_with_parent = request.diesWithDaemon
        raw.umask = request.fileCreationMask
        raw.open_files = clinux_limit(request.limits.openFiles)
        raw.processes = clinux_limit(request.limits.userProcesses)
        let account = request.account
        raw.switch_user = account != nil
        raw.user = account?.user ?? 0
        raw.group = account?.group ?? 0
        raw.inherited_count = request.inherited.count
        let answer = clone(request, groups: account?.groups ?? [], &raw, &pidfd)
        return (Int32(try answer.get("start", request.executable)), pidfd)
    }

    /// Keeps every pointer of the request valid for the one call.
    private static func clone(
        _ request: SpawnRequest, groups: [UInt32], _ raw: inout clinux_spawn_request, _ pidfd: inout Int32
    ) -> Answer {
        let environment = request.environment.map { "\($0.name)=\($0.value)" }
        let paths = [request.executable, request.directory ?? ""]
        return withCStrings(request.arguments) { arguments in
            withCStrings(environment) { environment in
                withCStrings(paths) { paths in
                    groups.withUnsafeBufferPointer { groups in
                        request.inherited.withUnsafeBufferPointer { inherited in
                            raw.arguments = arguments
                            raw.environment = environment
                            raw.executable = UnsafePointer(paths[0])
                            raw.directory = request.directory == nil ? nil : UnsafePointer(paths[1])
                            raw.groups = groups.baseAddress
                            raw.group_count = groups.count
                            raw.inherited = inherited.baseAddress
                            return attemptC { clinux_spawn(&raw, &pidfd) }
                        }
                    }
                }
            }
        }
    }
}

/// Our ends of the channels, for the child process value that will own them.
private struct OurEnds {
    let input: Int32
    let replies: Int32
    let output: Int32
    let errors: Int32
    let startup: Int32
}

/// Both ends of all pipes and sockets between a child and the daemon; the child's ends are closed here once it has been
/// cloned.
private struct Channels: ~Copyable {
    let input: Pipe
    let output: Pipe
    let errors: Pipe
    let startup: Pipe
    let replies: Pipe

    init() throws(SystemError) {
        let input = try Pipe(ours: .write, capacity: ChildProcess.inputCapacity)
        let output = try Pipe(ours: .read)
        let errors = try Pipe(ours: .read)
        let startup = try Pipe(ours: .read)
        let replies = try Pipe(ours: .read, capacity: ChildProcess.replyCapacity)
        self.input = input
        self.output = output
        self.errors = errors
        self.startup = startup
        self.replies = replies
    }

    borrowing func childDescriptors() -> (Int32, Int32, Int32, Int32) {
        (input.readEnd.raw, output.writeEnd.raw, errors.writeEnd.raw, replies.writeEnd.raw)
    }

    consuming func releaseOurEnds() -> OurEnds {
        OurEnds(
            input: input.releaseWriteEnd(), replies: replies.releaseReadEnd(), output: output.releaseReadEnd(),
            errors: errors.releaseReadEnd(), startup: startup.releaseReadEnd())
    }
}
