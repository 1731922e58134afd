// What the journal costs: time an event on tmpfs, anonymous memory with both databases open, and the opening of a backlog.
import Glibc
import WakeJournal
import WakeModel

private let arguments = CommandLine.arguments
private let event = DeviceEvent(
    origin: EventOrigin(rawValue: 1), kind: .data(.serial, [0, 72]),
    stamp: Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 5)))

private func scratch() -> String {
    var template = Array("/dev/shm/journal-bench-XXXXXX".utf8CString)
    return String(cString: mkdtemp(&template))
}

private func open(_ path: String) throws -> Journal {
    try Journal(opening: JournalSettings(runtimeDirectory: path, stateDirectory: path), bootID: "boot")
}

/// Append, lease, commit; acknowledge, commit. Returns nanoseconds an event.
private func cycle(_ journal: Journal, _ next: inout UInt64, batch: Int, events: Int) -> Int64 {
    let handler = journal.handlerID(named: "a")
    let owners = [handler]
    let clock = ContinuousClock()
    let began = clock.now
    for turn in 1...(events / batch) {
        let seqs = (0..<batch).map { Sequence(next + UInt64($0)) }
        for seq in seqs { journal.append(event, as: seq, for: owners, durability: .run) }
        journal.lease(seqs, to: handler)
        _ = journal.commit()
        journal.acknowledge(seqs, by: handler)
        _ = journal.commit()
        next += UInt64(batch)
        if turn % (batch == 1 ? 256 : 32) == 0 { _ = journal.compact() }
    }
    let time = (clock.now - began).components
    return (time.seconds * 1_000_000_000 + time.attoseconds / 1_000_000_000) / Int64(events)
}

private func anonymousKilobytes() -> Int {
    guard let file = fopen("/proc/self/status", "re") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split { $0 == " " || $0 == "\t" }
        if words.first == "RssAnon:", words.count > 1 { return Int(words[1]) ?? 0 }
    }
    return 0
}

private func speed(_ rounds: Int) throws {
    for batch in [1, 8, 64] {
        let path = scratch()
        defer { removeFiles(path) }
        let journal = try open(path)
        var next = journal.recover().next.rawValue
        _ = cycle(journal, &next, batch: batch, events: 2_048)
        let times = (0..<rounds).map { _ in cycle(journal, &next, batch: batch, events: 4_096) }.sorted()
        let shown = "median \(times[rounds / 2]) ns, best \(times[0]) ns an event"
        print("journal, batches of \(batch): \(shown)")
    }
}

private func memory() throws {
    let path = scratch()
    defer { removeFiles(path) }
    let before = anonymousKilobytes()
    let journal = try open(path)
    var next = journal.recover().next.rawValue
    let opened = anonymousKilobytes()
    _ = cycle(journal, &next, batch: 1, events: 20_000)
    print(
        "anonymous memory: \(before) KiB before, \(opened) KiB opened, \(anonymousKilobytes()) KiB after 20,000 events")
}

private func opening(_ count: UInt64) throws {
    let path = scratch()
    defer { removeFiles(path) }
    for isClean in [false, true] {
        let journal = try open(path)
        let handler = journal.handlerID(named: "a")
        var next = journal.recover().next.rawValue
        for _ in 0..<(count / 2) {
            journal.append(event, as: Sequence(next), for: [handler], durability: .run)
            next += 1
        }
        _ = journal.compact()
        if isClean { journal.close(clean: true) }
        let clock = ContinuousClock()
        var later: Journal?
        let opened = try clock.measure { later = try open(path) }
        var pending = 0
        let recovery = clock.measure { pending = later?.recover().pending[handler]?.count ?? 0 }
        print("\(pending) events, \(isClean ? "clean" : "unclean"): opened in \(opened), recovered in \(recovery)")
        later?.close(clean: true)
    }
}

private func removeFiles(_ path: String) {
    for name in ["run.sqlite", "journal.sqlite"] {
        for suffix in ["", "-wal", "-shm", "-turns"] { unlink("\(path)/\(name)\(suffix)") }
    }
    unlink(path + "/journal.number")
    rmdir(path)
}

switch arguments.dropFirst().first {
case "cycle":  // For callgrind: the same work without rounds.
    let path = scratch()
    let journal = try open(path)
    var next = journal.recover().next.rawValue
    let batch = arguments.count > 2 ? Int(arguments[2]) ?? 1 : 1
    let events = arguments.count > 3 ? Int(arguments[3]) ?? 2_048 : 2_048
    print("\(cycle(journal, &next, batch: batch, events: events)) ns an event")
    removeFiles(path)
case "memory": try memory()
case "opening": try opening(100_000)
default:
    try speed(11)
    try memory()
    try opening(100_000)
}
