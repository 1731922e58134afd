// Until when each peripheral that is not connected was surely listened to, kept over restarts: its gap begins there, and not
// where the bridge's earlier life ended.
import WakeModel
import WakeSystem

/// A line a peripheral: `1795282410123456 /bluetooth/C0:F1:F2:F3:F4:01`. What is not in it was connected to the end.
///
/// Links come and go often, so it is kept in memory, as the newest events are; an end in order leaves it on the disk for the next
/// boot. Who was cut off from its power begins its gaps where that life was last seen alive.
final class HearingBook {
    private let path: String
    private let pathOnDisk: String
    private var entries: [String: WallTime] = [:]
    private var hasChanged = false
    private let log = Log("bluetooth")

    /// - Parameter known: peripherals of the earlier life, which surely lived until `aliveUntil`.
    init(runtimeDirectory: String, stateDirectory: String, known: Set<String>, aliveUntil: WallTime?) {
        path = runtimeDirectory + "/heard"
        pathOnDisk = stateDirectory + "/heard"
        entries = (Self.read(path) ?? Self.read(pathOnDisk) ?? [:]).filter { known.contains($0.key) }
        // With the first link of this life it would be wrong.
        try? File.remove(pathOnDisk)
        if let aliveUntil { for source in known where entries[source] == nil { entries[source] = aliveUntil } }
        hasChanged = true
        keep()
    }

    subscript(source: String) -> WallTime? { entries[source] }

    /// Nil while it is connected.
    func note(_ source: String, heardUntil: WallTime?) {
        guard entries[source] != heardUntil else { return }
        entries[source] = heardUntil
        hasChanged = true
    }

    /// To be called when the journal has what the change was about: a gap that is told later begins no later.
    func keep() {
        guard hasChanged else { return }
        hasChanged = false
        write(to: path)
    }

    /// The end in order.
    func close() { write(to: pathOnDisk) }

    private func write(to path: String) {
        let lines = entries.sorted { $0.key < $1.key }.map { "\($0.value.microseconds) \($0.key)\n" }.joined()
        do throws(SystemError) {
            try File.replace(path, with: Array(lines.utf8))
        } catch {
            log.error("\(error.description); after a restart gaps of links that are down now may begin too late")
        }
    }

    /// Nil where there is none.
    private static func read(_ path: String) -> [String: WallTime]? {
        guard let bytes = try? File.bytes(at: path, limit: 1 << 20) else { return nil }
        var entries: [String: WallTime] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let time = Int64(words[0]) else { continue }
            entries[String(words[1])] = WallTime(microseconds: time)
        }
        return entries
    }
}
