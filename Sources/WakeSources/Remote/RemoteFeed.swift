// The seam between the stream of another bridge and its carrier: a broker, or a test.

/// Another bridge, as a broker delivers its publications.
public protocol RemoteFeed: AnyObject {
    /// Readable while something waits.
    var descriptor: Int32 { get }
    /// Begins to connect, and goes on until it is closed.
    func open()
    func close()
    /// Returns the next item; nil if none waits. After a line no item comes before ``acknowledgeLine()``.
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
    /// The bridge's description of the device with the alias, as JSON.
    case described(alias: String, [UInt8])
    case availability(alias: String, isOnline: Bool)
    /// A line of the bridge's stream. The broker keeps it until it is acknowledged.
    case line([UInt8])
    /// The broker refuses these topics to this daemon.
    case refused(topics: String)
    /// A message without information about the bridge.
    case other

    /// Bytes; a longer one is left out.
    public static let longestLine = 1 << 20
}

/// Another bridge whose devices are devices here.
public struct RemoteBridge {
    /// The prefix of its devices' names: `kitchen/chest-strap`.
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
