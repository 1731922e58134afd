// Opening a database file whatever state it is in: a damaged one is set aside and what is readable goes into a new one.
import Glibc
import WakeModel

enum Opening {
    struct Outcome {
        /// Nil where no file could be had; `loss` then says why.
        var database: Database?
        /// What happened to the file, to be told once.
        var loss: String?
        /// The file was begun anew: something of what it held may be missing.
        var wasDamaged = false
        /// Its log holds less than was committed to it, if this is still the same boot.
        var isCut = false
    }

    /// A file larger than this is not checked whole, because recovery reads its events, each with its check, anyway.
    private static let wholeCheckBytes: Int64 = 1 << 20

    static func open(_ path: String, strength: Database.Strength) throws(JournalError) -> Outcome {
        do {
            let committed = LogIndex.witness(of: path)
            var isCut = false
            let (database, isMended) = try sound(path, strength) { database in
                guard let committed, let found = database.framesInLog() else { return }
                isCut = found < committed
                if !isCut { LogIndex.dismissWitness(of: path) }
            }
            let mended =
                "the schema version in the header of the journal \(path) was damaged and is mended; check its disk"
            return Outcome(database: database, loss: isMended ? mended : nil, isCut: isCut)
        } catch {
            switch error {
            case .newer(let found):
                throw JournalError.newerSchema(path: path, found: found, known: Schema.steps.count)
            case .database(let failure):
                // Begun without it, this life would tell everybody that all it holds is lost.
                if failure.isLackOfDescriptors { throw JournalError.noDescriptors(path: path) }
                if failure.isCorruption { return replace(path, strength, failure) }
                let advice = "events are kept in memory, check its directory and file system"
                return Outcome(database: nil, loss: "cannot open the journal \(path): \(failure.message); \(advice)")
            }
        }
    }

    /// - Parameter didReadLog: called when SQLite has taken up the log, before anything is added to it.
    private static func sound(
        _ path: String, _ strength: Database.Strength, didReadLog: (Database) -> Void = { _ in }
    ) throws(Schema.Failure) -> (Database, isMended: Bool) {
        do {
            let database = try Database(path: path, strength: strength)
            _ = try database.integer("SELECT count(*) FROM sqlite_master")
            didReadLog(database)
            let isMended = try Schema.migrate(database)
            try Schema.verify(database)
            try inspect(database)
            return (database, isMended)
        } catch let failure as SQLiteFailure {
            throw .database(failure)
        } catch let failure as Schema.Failure {
            throw failure
        } catch { throw .database(SQLiteFailure(code: 1, message: "\(error)")) }
    }

    /// The small tables always; the whole file after an unclean end and while it is small.
    private static func inspect(_ database: Database) throws(SQLiteFailure) {
        let closed = try database.prepare("SELECT 1 FROM facts WHERE name='closed' AND value<>''")
        let isClean = try closed.step()
        closed.reset()
        let pages = try database.integer("PRAGMA page_count")
        let size = pages * (try database.integer("PRAGMA page_size"))
        let isWhole = !isClean && size <= wholeCheckBytes
        let checks = isWhole ? ["PRAGMA quick_check(1)"] : Schema.smallTables.map { "PRAGMA quick_check('\($0)')" }
        for check in checks {
            let answer = try database.prepare(check)
            if try answer.step(), answer.text(0) != "ok" {
                throw SQLiteFailure(code: SQLiteFailure.corrupt, message: answer.text(0))
            }
        }
    }

    static func replace(_ path: String, _ strength: Database.Strength, _ failure: SQLiteFailure) -> Outcome {
        // Until recovery has told of it: what was readable passes for all that there was.
        close(Glibc.open(mark(of: path), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        let aside = free(path)
        move(path, to: aside)
        let sentence =
            "the journal \(path) was damaged (\(failure.message)); it was set aside as \(aside) and begun anew"
        guard let (fresh, _) = try? sound(path, strength) else {
            let advice = "no new file could be made; events are kept in memory, check its directory"
            return Outcome(database: nil, loss: "\(sentence), but \(advice)", wasDamaged: true)
        }
        let count = Salvage.copy(from: aside, to: fresh)
        let loss = sentence + " with \(count) events that were readable"
        return Outcome(database: fresh, loss: loss, wasDamaged: true)
    }

    /// A file that stands there from the damage of a database until that is told.
    static func mark(of path: String) -> String { path + "-damaged" }

    /// Where a file that is set aside goes.
    static func free(_ path: String) -> String {
        var aside = "\(path).corrupt-\(time(nil))"
        while access(aside, F_OK) == 0 { aside += "x" }
        return aside
    }

    /// Renames the file and its WAL; the shared-memory file means nothing without them.
    static func move(_ path: String, to aside: String) {
        rename(path, aside)
        rename(path + "-wal", aside + "-wal")
        unlink(path + "-shm")
    }
}

/// Rows of a damaged file, from both ends until SQLite can read no further.
enum Salvage {
    /// Each is ordered by its first column, whatever that is called by now.
    private static let tables = ["facts", "devices", "handlers", "attempts", "owed", "dead_letters", "events"]

    /// How many events and notes were saved. What is not as it was written is left out when it is read from the new file.
    static func copy(from damaged: String, to fresh: Database) -> Int {
        guard let source = try? Database(path: damaged, strength: .normal) else { return 0 }
        // As much as a file of any size holds need not fit memory.
        try? fresh.execute("PRAGMA cache_spill=ON; BEGIN IMMEDIATE")
        var count = 0
        for table in tables {
            count = 0
            for direction in ["ASC", "DESC"] {
                let isWhole = copy("\(table) ORDER BY 1 \(direction)", into: table, source, fresh, &count)
                if isWhole { break }
            }
        }
        try? fresh.execute("DELETE FROM facts WHERE name='closed'; COMMIT; PRAGMA cache_spill=OFF")
        return count
    }

    /// A file that was never brought to the newest version has fewer; the names in a damaged one may be anything.
    private static func columns(of table: String, in database: Database) -> [String] {
        guard let rows = try? database.prepare("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid") else {
            return []
        }
        var names: [String] = []
        while (try? rows.step()) == true { names.append(rows.text(0)) }
        return names
    }

    /// True when the end was reached.
    private static func copy(
        _ selection: String, into table: String, _ source: Database, _ fresh: Database, _ count: inout Int
    ) -> Bool {
        let columns = columns(of: table, in: fresh).prefix(Self.columns(of: table, in: source).count)
        let places = Array(repeating: "?", count: columns.count).joined(separator: ",")
        let target = "\(table)(\(columns.joined(separator: ",")))"
        guard let rows = try? source.prepare("SELECT * FROM \(selection)"),
            let insertion = try? fresh.prepare("INSERT OR IGNORE INTO \(target) VALUES(\(places))")
        else { return false }
        do {
            while try rows.step() {
                rows.copyRow(to: insertion)
                if (try? insertion.run()) != nil { count += 1 }
            }
            return true
        } catch { return false }
    }
}
