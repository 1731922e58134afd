// Opening a database file whatever state it is in: a damaged one is set aside and what is readable goes into a new one.
import Glibc
import WakeModel

enum Opening {
    /// `database` is nil where no file could be had; `loss` then says why. With a database, `loss` tells of damage that was met.
    static func open(
        _ path: String, strength: Database.Strength
    ) throws(JournalError) -> (database: Database?, loss: String?) {
        do {
            return (try sound(path, strength), nil)
        } catch {
            switch error {
            case .newer(let found):
                throw JournalError.newerSchema(path: path, found: found, known: Schema.steps.count)
            case .database(let failure):
                if failure.isCorruption { return replace(path, strength, failure) }
                let advice = "events are kept in memory, check its directory and file system"
                return (nil, "cannot open the journal \(path): \(failure.message); \(advice)")
            }
        }
    }

    private static func sound(_ path: String, _ strength: Database.Strength) throws(Schema.Failure) -> Database {
        do {
            let database = try Database(path: path, strength: strength)
            let answer = try database.prepare("PRAGMA quick_check(1)")
            if try answer.step(), answer.text(0) != "ok" { throw SQLiteFailure(code: 11, message: answer.text(0)) }
            answer.reset()
            try Schema.migrate(database)
            return database
        } catch let failure as SQLiteFailure {
            throw .database(failure)
        } catch let failure as Schema.Failure {
            throw failure
        } catch { throw .database(SQLiteFailure(code: 1, message: "\(error)")) }
    }

    private static func replace(
        _ path: String, _ strength: Database.Strength, _ failure: SQLiteFailure
    ) -> (database: Database?, loss: String?) {
        let aside = setAside(path)
        let sentence =
            "the journal \(path) was damaged (\(failure.message)); it was set aside as \(aside) and begun anew"
        guard let fresh = try? sound(path, strength) else {
            return (nil, sentence + ", but no new file could be made; events are kept in memory, check its directory")
        }
        let count = Salvage.copy(from: aside, to: fresh)
        return (fresh, sentence + " with \(count) events that were readable")
    }

    /// Renames the file and its WAL; the shared-memory file means nothing without them.
    static func setAside(_ path: String) -> String {
        var aside = "\(path).corrupt-\(time(nil))"
        while access(aside, F_OK) == 0 { aside += "x" }
        rename(path, aside)
        rename(path + "-wal", aside + "-wal")
        unlink(path + "-shm")
        return aside
    }
}

/// Rows of a damaged file, one by one until SQLite can read no further.
enum Salvage {
    private static let tables = ["facts", "devices", "handlers", "state", "attempts", "owed"]

    /// How many events were saved.
    static func copy(from damaged: String, to fresh: Database) -> Int {
        guard let source = try? Database(path: damaged, strength: .normal) else { return 0 }
        try? fresh.execute("BEGIN IMMEDIATE")
        for table in tables { _ = copy(table, from: source, to: fresh) { _ in true } }
        var record = EventRecord()
        let count = copy("events", from: source, to: fresh) { record.decode($0) != nil }
        _ = copy("dead_letters", from: source, to: fresh) { record.decode($0) != nil }
        try? fresh.execute("COMMIT")
        return count
    }

    private static func copy(
        _ table: String, from source: Database, to fresh: Database, where isSound: (Statement) -> Bool
    ) -> Int {
        let width = (try? fresh.integer("SELECT count(*) FROM pragma_table_info('\(table)')")) ?? 0
        let places = Array(repeating: "?", count: Int(width)).joined(separator: ",")
        guard let rows = try? source.prepare("SELECT * FROM \(table)"),
            let insertion = try? fresh.prepare("INSERT OR IGNORE INTO \(table) VALUES(\(places))")
        else { return 0 }
        var count = 0
        while (try? rows.step()) == true {
            guard isSound(rows) else { continue }
            rows.copyRow(to: insertion)
            if (try? insertion.run()) != nil { count += 1 }
        }
        return count
    }
}
