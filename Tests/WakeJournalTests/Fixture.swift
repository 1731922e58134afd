// What the tests of the journal share: a directory on tmpfs, events, and files to damage or lock.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeJournal

/// A directory on tmpfs that is removed with the value.
final class Scratch {
    let path: String
    init() {
        var template = Array("/dev/shm/journal-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template))
    }
    deinit { shell("umount -l \(path)/* \(path) 2>/dev/null; rm -rf \(path)") }
    var settings: JournalSettings {
        var settings = JournalSettings(runtimeDirectory: path, stateDirectory: path)
        settings.turnLogBytes = logBytes
        return settings
    }
    /// Of the turn log; 0 tests the databases without it.
    var logBytes = JournalSettings(runtimeDirectory: nil, stateDirectory: nil).turnLogBytes
    var turns: String { TurnLog.path(beside: run) }
    var run: String { path + "/run.sqlite" }
    var disk: String { path + "/journal.sqlite" }
    func journal(boot: String = "boot") throws -> Journal { try Journal(opening: settings, bootID: boot) }

    /// Opened and recovered, with handlers `a` and `b` as numbers 1 and 2.
    func ready(boot: String = "boot") throws -> Journal {
        let journal = try journal(boot: boot)
        _ = journal.origin(of: accessory)
        _ = journal.handlerID(named: "a")
        _ = journal.handlerID(named: "b")
        _ = journal.recover()
        _ = journal.commit()
        return journal
    }

    func reboot() { shell("rm -f \(run)*") }

    /// Makes the directory a file system of that size; false where that needs root.
    func limit(to size: String) -> Bool {
        if shell("mount -t tmpfs -o size=\(size) none \(path) 2>/dev/null") == 0 { return true }
        print("SKIPPED: mounting a tmpfs needs root; a full file system was not tried")
        return false
    }

    func fill() { shell("dd if=/dev/zero of=\(path)/filler bs=4k 2>/dev/null") }

    /// Kills a program that preloads it before a given write.
    func crashLibrary() throws -> String {
        let library = path + "/death.so"
        try #require(compile("Break/death.c", ["-shared", "-fPIC"], to: library))
        return library
    }

    func crash(before write: Int, _ library: String, turns: Int? = nil) throws {
        shell("DEATH_AFTER=\(write) LD_PRELOAD=\(library) '\(try crasher())' \(path) \(turns.map(String.init) ?? "")")
    }

    /// Changes what a file holds, as a bad sector would.
    func tamper(_ path: String, _ sql: String) throws {
        let database = try Database(path: path, strength: .normal)
        try database.execute(sql)
        try database.checkpoint()
    }

    /// While the value exists no other connection can write to the file.
    func lock(_ path: String) throws -> Database {
        let database = try Database(path: path, strength: .normal)
        try database.execute("BEGIN IMMEDIATE")
        return database
    }

    func free(_ locks: [Database]) {
        for lock in locks { try? lock.execute("ROLLBACK") }
    }
}

let accessory = Device(uri: "/d/1", alias: "one", profile: nil, kind: .externalAccessory)
let a = HandlerID(rawValue: 1)
let b = HandlerID(rawValue: 2)

@discardableResult
func shell(_ command: String) -> Int32 { system(command) }

func data(_ bytes: [UInt8], device: EventOrigin = EventOrigin(rawValue: 1)) -> DeviceEvent {
    let moment = Moment(monotonic: Instant(nanoseconds: 3), boottime: Instant(nanoseconds: 4))
    return DeviceEvent(
        origin: device, kind: .data(.serial, bytes), stamp: Stamp(moment: moment, wall: WallTime(microseconds: 5)))
}

/// Of a storm that dropped so many events.
func gap(_ count: UInt64) -> DeviceEvent {
    let time = WallTime(microseconds: 9)
    var event = data([])
    event.kind = .gap(Gap(cause: .storm, count: count, first: nil, last: nil, from: time, to: time))
    return event
}

func bytes(of path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: ftell(file))
    rewind(file)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
}

/// In place: a journal that has the file open sees it.
func overwrite(_ path: String, with bytes: [UInt8]) {
    let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
    _ = write(descriptor, bytes, bytes.count)
    ftruncate(descriptor, bytes.count)
    close(descriptor)
}

/// The program that kills itself in the middle of a turn.
func crasher() throws -> String {
    let program = CommandLine.arguments[0].split(separator: "/").dropLast().joined(separator: "/")
    let candidates = ["/\(program)/JournalCrasher", ".build/debug/JournalCrasher"]
    return try #require(candidates.first { access($0, X_OK) == 0 })
}

extension Journal {
    func append(_ numbers: ClosedRange<UInt64>, for owners: [HandlerID] = [a], _ durability: Durability = .run) {
        for number in numbers {
            append(
                data([UInt8(truncatingIfNeeded: number)]), as: Sequence(number), for: owners, durability: durability)
        }
    }
}
