// The number in the journal's name, and the small file that remembers it when its database is lost.
import Glibc

extension Journal {
    /// Grows with every new disk database; a small file beside it remembers the number when the database is lost.
    func numberJournal() -> String {
        guard let directory = settings.stateDirectory else { return "j\(time(nil))" }
        if let id = start.disk["journal"], !disk.wasDamaged { return id }
        // The number it has cannot be known, but one made of the time is above it.
        guard disk.database != nil else { return "j\(time(nil))" }
        let memory = directory + "/journal.number"
        let known = [start.disk["journal"], start.run["journal"], readLine(of: memory)].compactMap {
            $0.flatMap { Int($0.dropFirst()) }
        }
        let id = "j\((known.max() ?? 0) + 1)"
        writeLine(id, to: memory)
        return id
    }
}

private func readLine(of path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = fread(&bytes, 1, 32, file)
    return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

/// A failure is no loss: the number also stands in both databases.
private func writeLine(_ text: String, to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let bytes = Array((text + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
    fsync(descriptor)
    close(descriptor)
}
