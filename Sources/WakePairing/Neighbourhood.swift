// The peripherals near by as people see them: one row each, and one for all faces of a peripheral that changes its address.
import WakeModel
import WakeSources

public struct Neighbour: Hashable, Sendable {
    /// Its object; of several addresses that look the same, the one with the best signal.
    public var path: String
    /// The adapter's address.
    public var adapter: String
    public var peripheral: BluezPeripheral
    public var profile: String?
    /// How many addresses look the same.
    public var count = 1
    /// Its broadcast, as its profile reads it: a JSON object.
    public var broadcast: [UInt8]?

    public init(path: String, adapter: String, _ peripheral: BluezPeripheral, profile: String?) {
        self.path = path
        self.adapter = adapter
        self.peripheral = peripheral
        self.profile = profile
    }

    /// dBm; nil if it does not advertise now. Controllers send 127 if they do not know.
    public var signal: Int? { peripheral.knownSignal }

    /// The name that an operator gave it, else its own, else its address.
    public var label: String {
        if peripheral.isNamedByPeople { return peripheral.alias }
        return peripheral.name.flatMap { $0.isEmpty ? nil : $0 } ?? peripheral.address
    }

    /// It is paired or trusted.
    public var isKnown: Bool { peripheral.isAdopted }

    /// A key that stays the same for the same device: its object, or for a changing address, its looks. It includes
    /// only the company of manufacturer data, whose bytes may change with every advertisement.
    public var key: String {
        guard peripheral.hasPrivateAddress, !isKnown, !peripheral.isConnected else { return path }
        let services = peripheral.services.map(\.description).sorted().joined(separator: " ")
        let makers = peripheral.manufacturerData.keys.sorted().map(String.init)
        return [adapter, peripheral.name ?? "", services, makers.joined(separator: " ")].joined(separator: "|")
    }
}

/// Pure: advertisements go in, rows come out.
public struct Neighbourhood: Sendable {
    private var heard: Set<String> = []

    public init() {}

    /// An advertisement of it was received.
    public mutating func hear(_ path: String) { heard.insert(path) }
    public func hasHeard(_ path: String) -> Bool { heard.contains(path) }
    public mutating func lose(_ path: String) { heard.remove(path) }

    /// The rows, best signal first among equals: those that a profile knows, then the others. A row needs an
    /// advertisement or a link, because bluetoothd remembers many devices that are not here.
    public func rows(
        of mirror: BluezMirror, on adapters: Set<String>, profile: (BluezPeripheral) -> String?
    ) -> [Neighbour] {
        var rows: [Neighbour] = []
        var places: [String: Int] = [:]
        for (path, peripheral) in mirror.peripherals.sorted(by: { $0.key < $1.key }) {
            guard adapters.contains(path.parent), heard.contains(path) || peripheral.isConnected else { continue }
            let row = mirror.neighbour(peripheral, at: path, profile: profile(peripheral))
            if let index = places[row.key] {
                rows[index] = rows[index].folded(with: row)
            } else {
                places[row.key] = rows.count
                rows.append(row)
            }
        }
        return rows.sorted { $0.rank < $1.rank }
    }
}

extension BluezMirror {
    public func neighbour(at path: String, profile: (BluezPeripheral) -> String?) -> Neighbour? {
        peripherals[path].map { neighbour($0, at: path, profile: profile($0)) }
    }

    fileprivate func neighbour(_ peripheral: BluezPeripheral, at path: String, profile: String?) -> Neighbour {
        let adapter = adapters[path.parent]?.address ?? ""
        return Neighbour(path: path, adapter: adapter, peripheral, profile: profile)
    }
}

extension Neighbour {
    fileprivate func folded(with other: Neighbour) -> Neighbour {
        var best = (other.signal ?? -999) > (signal ?? -999) ? other : self
        best.count = count + other.count
        return best
    }

    fileprivate var rank: (Int, Int, String) { (profile == nil ? 1 : 0, -(signal ?? -999), peripheral.address) }
}

/// How an operator's word finds a peripheral.
public enum NeighbourSearch {
    public enum Finding: Hashable, Sendable {
        case one(String)
        case none
        /// Paths that the word fits equally well.
        case several([String])
    }

    /// How much of a name an operator must give: to undo or make something, all of it.
    public enum Extent { case whole, beginning }

    /// By address or source, then alias, then name, then the beginning of an alias. If several adapters know a
    /// peripheral, it takes the adopted, else the connected, else the one with the best signal.
    /// - Parameter eventAlias: the alias in events of a peripheral that was not named.
    public static func find(
        _ word: String, in peripherals: [String: BluezPeripheral], by extent: Extent = .whole,
        eventAlias: @escaping (BluezPeripheral) -> String? = { _ in nil }
    ) -> Finding {
        let all = peripherals.sorted { $0.key < $1.key }
        let address = (Device.bluetoothAddress(in: word) ?? word).uppercased()
        var kinds: [(BluezPeripheral) -> Bool] = [
            { $0.address.uppercased() == address },
            { $0.isNamedByPeople && $0.alias == word || eventAlias($0) == word },
            { $0.name == word || $0.alias == word },
            { $0.name?.lowercased() == word.lowercased() || $0.alias.lowercased() == word.lowercased() },
        ]
        switch extent {
        case .whole: break
        case .beginning:
            kinds.append { !word.isEmpty && ($0.alias.hasPrefix(word) || eventAlias($0)?.hasPrefix(word) == true) }
        }
        for fits in kinds {
            let found = all.filter { fits($0.value) }
            if found.isEmpty { continue }
            guard Set(found.map(\.value.address)).count == 1 else { return .several(found.map(\.key)) }
            return found.max { $0.value.weight < $1.value.weight }.map { .one($0.key) } ?? .none
        }
        return .none
    }
}

extension BluezPeripheral {
    fileprivate var knownSignal: Int? { signal.flatMap { $0 == 127 ? nil : $0 } }

    fileprivate var weight: (Int, Int, Int) { (isAdopted ? 1 : 0, isConnected ? 1 : 0, knownSignal ?? -999) }
}
