// How long things are waited for with an accessory's node, and how often they are tried.
import WakeModel

public struct PortTimeouts: Hashable, Sendable {
    /// Attempts before a report, and the time between them: udev and the node's permissions may need a moment.
    public var quickTries = 6
    public var quickWait = TimeSpan.milliseconds(200)
    /// After those each wait is twice the one before, up to the longest.
    public var slowWait = TimeSpan.seconds(1)
    public var longestWait = TimeSpan.seconds(30)
    /// If the opening took this long or longer, data during it counts as lost.
    public var promptOpening = TimeSpan.seconds(1)
    /// A driver that has not opened it by then is reported; nil where the opener gives up by itself.
    public var longestOpening: TimeSpan? = .seconds(10)
    /// How long the end of an open node may go unnoticed.
    public var unnoticedEnd = TimeSpan.zero
    /// A node that hung up while udev still shows the device.
    public var afterLoss = TimeSpan.milliseconds(500)
    /// After another program requested its end, which takes bluetoothd two seconds.
    public var afterParting = TimeSpan.seconds(5)
    /// A node that was open this long was sound: the next loss is the first of its row.
    public var soundOpening = TimeSpan.seconds(10)
    /// More arrivals than the limit within the window, and it is unstable: it must stay for longer then.
    public var flapLimit = 5
    public var flapWindow = TimeSpan.seconds(60)
    public var flapSettle = TimeSpan.seconds(10)
    /// The log reports one visit that is too short for an event in each window.
    public var visitWindow = TimeSpan.seconds(60)
    /// Bytes that may be held before it has settled; a device that sends more is there.
    public var heldEvents = 256
    public var heldBytes = 64 << 10

    public init() {}

    /// A device over the air: each try keeps the adapter busy for some five seconds where it does not answer.
    public static var calling: PortTimeouts {
        var patience = PortTimeouts()
        patience.quickTries = 3
        patience.quickWait = .seconds(1)
        patience.slowWait = .seconds(2)
        patience.longestWait = .seconds(60)
        patience.longestOpening = nil
        // The link supervision timeout (Core Specification) that two ends use by default.
        patience.unnoticedEnd = .seconds(20)
        return patience
    }

    func wait(after attempts: Int) -> TimeSpan {
        attempts < quickTries ? quickWait : doubled(slowWait, attempts - quickTries)
    }

    func wait(afterLosses losses: Int) -> TimeSpan { doubled(afterLoss, losses - 1) }

    private func doubled(_ wait: TimeSpan, _ times: Int) -> TimeSpan {
        min(wait * (1 << Int64(max(0, min(times, 20)))), longestWait)
    }
}
