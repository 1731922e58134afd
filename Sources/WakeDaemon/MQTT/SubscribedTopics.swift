// The topics that the broker's kept session is subscribed to, over restarts: one that no manifest names any more can be ended.
import WakeSystem

struct SubscribedTopics {
    private(set) var filters: Set<String>
    private let file: String

    init(in stateDirectory: String) {
        file = stateDirectory + "/mqtt-inbox-topics"
        let bytes = (try? File.bytes(at: file, limit: 1 << 20)) ?? []
        filters = Set(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    mutating func insert(_ others: [String]) {
        guard !filters.isSuperset(of: others) else { return }
        filters.formUnion(others)
        write()
    }

    mutating func remove(_ filter: String) {
        if filters.remove(filter) != nil { write() }
    }

    /// Without the file a topic that goes while no daemon runs stays subscribed; nothing else depends on it.
    private func write() {
        let text = filters.sorted().map { $0 + "\n" }.joined()
        do throws(SystemError) { try File.replace(file, with: Array(text.utf8)) } catch {
            Log("inbox").warning("could not keep the subscribed topics: \(error.description)")
        }
    }
}
