// The transfers that may send requests now: two at a time for one host, in the order in which they came.

public struct HostSlots: Sendable {
    public static let mostOfHost = 2

    private var line: [(id: TransferID, host: String)] = []
    private var asking: [String: Set<TransferID>] = [:]

    public init() {}

    public var isBusy: Bool { !asking.isEmpty }

    public mutating func enter(_ id: TransferID, _ host: String) {
        guard !line.contains(where: { $0.id == id }) else { return }
        line.append((id, host))
    }

    /// It has its answer, or wants none any more.
    public mutating func leave(_ id: TransferID, _ host: String) {
        line.removeAll { $0.id == id && $0.host == host }
        asking[host]?.remove(id)
        if asking[host]?.isEmpty == true { asking[host] = nil }
    }

    /// Removes and returns the transfers whose turn has come.
    public mutating func removeAdmitted() -> [TransferID] {
        var admitted: [TransferID] = []
        var waiting: [(id: TransferID, host: String)] = []
        for (id, host) in line {
            if asking[host, default: []].count < Self.mostOfHost {
                asking[host, default: []].insert(id)
                admitted.append(id)
            } else {
                waiting.append((id, host))
            }
        }
        for (host, ids) in asking where ids.isEmpty { asking[host] = nil }
        line = waiting
        return admitted
    }
}
