// An adapter, as the control API writes it: whether it is on, how many links it carries, and which devices wait for one.
import WakeModel

public struct AdapterStatus: Hashable, Sendable {
    /// Its identity: its number may change at the next start.
    public var address: String
    public var isPowered: Bool
    public var links: Int
    /// How many links it carried when it refused another; nil where it has refused none.
    public var mostLinks: Int?
    /// The aliases of devices that are not connected because it has no room.
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
    /// Writes null where no Bluetooth device is watched.
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
