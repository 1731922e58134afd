// How adapters and peripherals stand, for whoever asks: how many links each adapter carries, and who waits for one.
import WakeModel

/// An adapter that bluetoothd has.
public struct AdapterStanding: Hashable, Sendable {
    public var address: String
    public var isPowered: Bool
    public var links: Int
    /// How many it carried when it refused another; nil where it has not shown it.
    public var mostLinks: Int?
    /// Those that are not connected because it takes no more.
    public var waiting: [Device]
}

extension BluetoothSource {
    /// Ordered by address: numbers such as that of `hci0` change.
    public var adapters: [AdapterStanding] {
        client.mirror.adapters.map { path, adapter in
            let links = links(on: path)
            let waiting = watched.values.filter { $0.path.parent == path && waitsForRoom($0) }.map(\.device)
            return AdapterStanding(
                address: adapter.address, isPowered: adapter.isPowered, links: links,
                mostLinks: slots.most(of: path, carrying: links), waiting: waiting.sorted { $0.uri < $1.uri })
        }.sorted { $0.address < $1.address }
    }

    /// What keeps it from being connected; nil where nothing does.
    public func hindrance(of uri: String) -> LinkHindrance? {
        guard client.isThere else { return .bluetoothdGone }
        guard let entry = watched[uri] else { return .unwatched }
        guard waitsForRoom(entry) else { return entry.machine.hindrance }
        let adapter = entry.path.parent
        return .noRoom(adapter: client.mirror.adapters[adapter]?.address ?? adapter, links: links(on: adapter))
    }

    private func waitsForRoom(_ entry: Watched) -> Bool { entry.machine.wantsRoom && !hasRoom(on: entry.path.parent) }
}
