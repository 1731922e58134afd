// An adapter of the bridge as the control API writes it: whether it is on, what it carries, and who waits for a link.
import WakeModel

public struct AdapterStatus: Hashable, Sendable {
    /// What it is known by: its number may be another one after the next start.
    public var address: String
    public var isPowered: Bool
    public var links: Int
    /// How many it carried when it refused another; nil where it has not shown it.
    public var mostLinks: Int?
    /// The aliases of those that are not connected because it takes no more.
    public var waiting: [String]

    public init(address: String, isPowered: Bool, links: Int, mostLinks: Int? = nil, waiting: [String] = []) {
        self.address = address
        self.isPowered = isPowered
        self.links = links
        self.mostLinks = mostLinks
        self.waiting = waiting
    }
}

extension JSONWriter {
    /// Null where no Bluetooth is watched.
    mutating func field(_ name: StaticString, _ adapters: [AdapterStatus]?) {
        key(name)
        guard let adapters else { return null() }
        beginArray()
        for adapter in adapters { self.adapter(adapter) }
        endArray()
    }

    private mutating func adapter(_ status: AdapterStatus) {
        beginObject()
        field("address", status.address)
        field("powered", status.isPowered)
        field("links", status.links)
        field("most_links", status.mostLinks)
        key("waiting")
        beginArray()
        for alias in status.waiting { string(alias) }
        endArray()
        endObject()
    }
}
