// The values on their way to one subscriber: a socket whose other end bluetoothd has (GattCharacteristic1.AcquireNotify).
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// Each packet is one value. A value that does not fit waits, and the loop never does.
final class NotifyStream {
    enum News {
        /// A number of further values are with bluetoothd.
        case sent(Int)
        /// The central has confirmed an indication.
        case confirmed
        /// The central has unsubscribed or gone, or bluetoothd has.
        case closed
    }

    private let socket: FileDescriptor
    private let subscription: PeripheralSubscription
    private unowned let peripheral: ServedPeripheral
    private var watch: Watch?
    private var waiting: [[UInt8]] = []
    private var unreported = 0
    /// Reports cost a step of the agenda each, so they are made for several values at once.
    private static let reportEvery = 16

    /// - Parameter peripheral: keeps it.
    init(
        _ socket: consuming FileDescriptor, to subscription: PeripheralSubscription, of peripheral: ServedPeripheral,
        on loop: EventLoop
    ) throws(SystemError) {
        let raw = socket.raw
        self.socket = socket
        (self.subscription, self.peripheral) = (subscription, peripheral)
        watch = try loop.watch(raw, for: .readable, cause: .bluetooth, of: self) { $0.follow() }
    }

    deinit { watch?.cancel() }

    func send(_ bytes: [UInt8]) {
        waiting.append(bytes)
        if waiting.count == 1 { flush() }
    }

    private func report(_ news: News) { peripheral.record(news, of: subscription) }

    /// The socket is readable, or takes more.
    private func follow() {
        if !waiting.isEmpty { flush() }
        var buffer = [UInt8](repeating: 0, count: 64)
        do throws(SystemError) {
            while true {
                switch try socket.read(into: &buffer) {
                case .bytes: report(.confirmed)
                case .wouldBlock: return
                case .endOfFile, .closed: return end()
                }
            }
        } catch { end() }
    }

    private func end() {
        watch?.cancel()
        report(.closed)
    }

    private func flush() {
        let wasBlocked = waiting.count > 1
        var sent = 0
        flushing: while let value = waiting.first {
            // A failed send shows in the next read as well, which ends the stream.
            switch (try? socket.send(value[...])) ?? .closed {
            case .wrote:
                waiting.removeFirst()
                sent += 1
            case .wouldBlock, .closed: break flushing
            }
        }
        try? watch?.setReadiness(waiting.isEmpty ? .readable : [.readable, .writable])
        unreported += sent
        guard unreported >= Self.reportEvery || wasBlocked && sent > 0 else { return }
        report(.sent(unreported))
        unreported = 0
    }
}
