// The seam between the stream of another bridge and whatever brings it: a broker, or a test.

/// One other bridge, as a broker brings what it publishes.
public protocol RemoteFeed: AnyObject {
    /// Readable while something waits.
    var descriptor: Int32 { get }
    /// Begins to connect, and goes on until it is closed.
    func open()
    func close()
    /// What came next; nil where nothing waits. After a line nothing comes before ``acknowledgeLine()``.
    func next() -> RemoteNews?
    /// The line that came last is kept here: the broker may forget it.
    func acknowledgeLine()
}

public enum RemoteNews: Hashable, Sendable {
    /// The broker brings all that the bridge publishes, from now on.
    case reached
    /// The broker is away, for the reason: a sentence.
    case lost(String)
    case presence(isOnline: Bool)
    /// What the bridge says about a device of the alias, as JSON.
    case described(alias: String, [UInt8])
    case availability(alias: String, isOnline: Bool)
    /// One line of the bridge's stream. The broker keeps it until it is acknowledged.
    case line([UInt8])
    /// The broker does not let this daemon hear these topics.
    case refused(topics: String)
    /// What says nothing of the bridge.
    case other

    /// Bytes; a longer one is left out.
    public static let longestLine = 1 << 20
}

/// Another bridge whose devices are devices here.
public struct RemoteBridge {
    /// What its devices are called by: `kitchen/chest-strap`.
    public let name: String
    /// Names its stream in the journal.
    public let stream: String
    /// The broker's address, for sentences.
    public let broker: String
    public let feed: any RemoteFeed

    public init(name: String, stream: String, broker: String, feed: any RemoteFeed) {
        (self.name, self.stream, self.broker, self.feed) = (name, stream, broker, feed)
    }
}
