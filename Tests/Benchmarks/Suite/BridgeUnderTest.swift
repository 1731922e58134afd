// The daemon as it is, with one device more: bytes on descriptor 0 are a heart rate strap's notifications.
import Glibc
import WakeDaemon
import WakeLoop
import WakeModel
import WakeSystem

final class BridgeUnderTest {
    /// One notification of Heart Rate Measurement.
    static let frame: [UInt8] = [0x16, 0x3c, 0xf8, 0x03]
    private static let measurement = Channel.characteristic(BluetoothUUID(short: 0x2a37))

    private let daemon: Daemon
    private let device: DeviceID
    private let source = FileDescriptor(owning: 0)
    private let bytesPerRead: Int
    private var watch: Watch?
    private var space: [UInt8] = []

    /// `directory` holds the configuration, `bytes per read` cuts the stream.
    init(_ words: [String]) throws {
        let directory = words[0]
        bytesPerRead = words.count > 1 ? Int(words[1]) ?? 4_096 : 4_096
        var options = DaemonOptions()
        options.configurationDirectory = directory + "/etc"
        options.stateDirectory = directory + "/state"
        options.runtimeDirectory = directory + "/run"
        daemon = try Daemon(options)
        device = daemon.bridge.know(
            Device(
                source: "/bluetooth/C0:F1:F2:F3:F4:01", alias: "chest-strap", profile: "heart-rate-monitor",
                mode: .bluetoothCentral))
        try source.setNonblocking()
        watch = try daemon.bridge.loop.watch(source.raw, for: .readable) { [unowned self] _ in listen() }
        daemon.bridge.didCompleteTurn.append { [unowned self] in listenAgain() }
    }

    func run() throws { _ = try daemon.run() }

    private func listen() {
        space.removeAll(keepingCapacity: true)
        switch try? source.read(appendingTo: &space, limit: bytesPerRead) {
        case .bytes: take()
        case .wouldBlock: return
        case .endOfFile, .closed, nil:
            watch?.disable()
            kill(getpid(), SIGTERM)
        }
        if daemon.bridge.engine.isBackedUp { watch?.disable() }
    }

    /// Whole frames only: the conductor writes no others.
    private func take() {
        for start in stride(from: 0, to: space.count, by: Self.frame.count) {
            let bytes = Array(space[start..<min(start + Self.frame.count, space.count)])
            let stamp = daemon.bridge.engine.clock.stamp()
            daemon.bridge.take(DeviceEvent(device: device, kind: .data(Self.measurement, bytes), stamp: stamp))
        }
    }

    /// What a source does that can wait: it leaves the bytes with the kernel while half the queue is full.
    private func listenAgain() {
        if !daemon.bridge.engine.isBackedUp { watch?.enable() }
    }
}

/// The folder of one bridge under test: one handler, its board, no limit on what its device says.
struct BridgeFolder {
    let path: String
    var board: String { path + "/board" }

    init(durability: Durability, linger: TimeSpan, program: String) throws {
        path = try MemoryFolder.make()
        try Directory.create(path + "/etc/handlers.d")
        try File.replace(path + "/etc/wakebridge.json5", with: Array("{ storm: { enabled: false } }".utf8))
        let manifest = """
            { exec: ["\(program)", "handler", "\(board)"], user: "\(try Account.current().name)",
              modes: ["bluetooth-central"],
              watch: [{ profile: "heart-rate-monitor", durability: "\(durability.rawValue)" }],
              timers: { linger: "\(linger.wholeMilliseconds)ms" } }
            """
        try File.replace(path + "/etc/handlers.d/null.json5", with: Array(manifest.utf8))
    }
}

/// Folders on a tmpfs, where the runtime directory is meant to be, on machines whose /run is none too.
enum MemoryFolder {
    static func make() throws(SystemError) -> String {
        guard File.exists("/dev/shm") else { return try Directory.makeTemporary(prefix: "wakebridge-bench") }
        for number in 0..<1_000 {
            let path = "/dev/shm/wakebridge-bench-\(getpid())-\(number)"
            if mkdir(path, 0o700) == 0 { return path }
        }
        throw SystemError("make a folder in", "/dev/shm", .last)
    }
}
