// The daemon as it is, with devices more: bytes on descriptor 0 are notifications of heart rate straps, each in its turn.
import Glibc
import WakeDaemon
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

final class BridgeUnderTest {
    /// One notification of Heart Rate Measurement.
    static let frame: [UInt8] = [0x16, 0x3c, 0xf8, 0x03]
    /// The same of the device that spoke last.
    static let again: [UInt8] = [0x16, 0x3d, 0xf8, 0x03]
    private static let measurement = Channel.characteristic(BluetoothUUID(short: 0x2a37))

    private let daemon: Daemon
    private let count: Int
    /// Found once the first of them speaks, when the manifests are read.
    private var devices: [EventOrigin] = []
    private var speaker = 0
    private var dice = Dice()
    private let source = FileDescriptor(owning: 0)
    private let bytesPerRead: Int
    private var watch: Watch?
    private var space: [UInt8] = []

    /// The folder that holds the configuration, how many bytes one read takes, how many devices there are.
    init(_ words: [String]) throws {
        let directory = words[0]
        bytesPerRead = words.count > 1 ? Int(words[1]) ?? 4_096 : 4_096
        var options = DaemonOptions()
        options.configurationDirectory = directory + "/etc"
        options.stateDirectory = directory + "/state"
        options.runtimeDirectory = directory + "/run"
        daemon = try Daemon(options)
        count = words.count > 2 ? Int(words[2]) ?? 1 : 1
        try source.setNonblocking()
        watch = try daemon.bridge.loop.watch(source.raw, for: .readable) { [unowned self] _ in listen() }
        daemon.bridge.turn.listeners.observe(self)
    }

    func run() throws {
        try daemon.start()
        _ = try daemon.run()
    }

    private static func device(_ number: Int) -> Device {
        var address: [UInt8] = []
        for byte in [0xc0, 0xf1, 0xf2, (number >> 16) & 255, (number >> 8) & 255, number & 255] {
            address.append(contentsOf: (byte < 16 ? "0" : "").utf8)
            address.append(contentsOf: String(byte, radix: 16, uppercase: true).utf8)
            address.append(UInt8(ascii: ":"))
        }
        return Device(
            uri: "/bluetooth/" + String(decoding: address.dropLast(), as: UTF8.self),
            alias: BridgeFolder.alias(number), profile: "heart-rate-monitor", kind: .bluetoothCentral)
    }

    private func listen() {
        if devices.isEmpty { devices = (0..<count).map { daemon.bridge.engine.know(Self.device($0)) } }
        space.removeAll(keepingCapacity: true)
        switch try? source.read(appendingTo: &space, limit: bytesPerRead) {
        case .bytes: take()
        case .wouldBlock: return
        case .endOfFile, .closed, nil:
            watch?.disable()
            kill(getpid(), SIGTERM)
        }
        if daemon.bridge.turn.isFed { watch?.disable() }
    }

    /// Whole frames only: the conductor writes no others.
    private func take() {
        for start in stride(from: 0, to: space.count, by: Self.frame.count) {
            let bytes = Array(space[start..<min(start + Self.frame.count, space.count)])
            let stamp = daemon.bridge.turn.clock.stamp()
            let device = bytes == Self.again ? devices[speaker] : nextSpeaker()
            daemon.bridge.engine.ingest(DeviceEvent(origin: device, kind: .data(Self.measurement, bytes), stamp: stamp))
        }
    }

    /// Each in its turn, and the turns in another order each time: no memory is warm because a neighbour spoke, and nobody
    /// speaks when he is expected to.
    private func nextSpeaker() -> EventOrigin {
        if speaker == 0 { devices.shuffle(using: &dice) }
        speaker = (speaker + 1) % devices.count
        return devices[speaker]
    }

    /// What a source does that can wait and keeps no time: it leaves the bytes with the kernel while the handler has enough to
    /// go on with.
    private func listenAgain() {
        if !daemon.bridge.turn.isFed { watch?.enable() }
    }
}

extension BridgeUnderTest: TurnObserver {
    func turnEnded() { listenAgain() }
}

/// The same in every run (xorshift, Marsaglia 2003). That of the tests is in a module that needs Testing, which a release has not.
private struct Dice: RandomNumberGenerator {
    private var state: UInt64 = 88_172_645_463_325_252

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
