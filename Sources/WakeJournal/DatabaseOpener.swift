// Opens a database file in any state: sets a damaged one aside and copies its readable rows into a new one.
import Glibc
import WakeModel

enum DatabaseOpener {
    struct Outcome {
        /// Nil if no file could be opened; `loss` then gives the reason.
        var database: Database?
        /// The fault of the file, to be reported once.
        var loss: String?
        /// A new file was begun, and some of the old one may be missing.
        var wasDamaged = false
        /// Its log holds less than was committed to it. Valid only within the same boot.
        var isCut = false
    }

    /// Larger files are not checked as a whole, because recovery reads each event with its check anyway.
    private static let wholeCheckBytes: Int64 = 1 << 20

    static func open(_ path: String, strength: Database.Strength) throws(JournalError) -> Outcome {
        do throws(JournalSchema.Failure) {
            let committed = LogIndex.witness(of: path)
            var isCut = false
            let (database, isRepaired) = try openSound(path, strength) { database in
                guard let committed, let found = database.framesInLog() else { return }
                isCut = found < committed
                if !isCut { LogIndex.removeWitness(of: path) }
            }
            let repair =
                "the schema version in the header of the journal \(path) was damaged and is repaired; check its disk"
            return Outcome(database: database, loss: isRepaired ? repair : nil, isCut: isCut)
        } catch {
            switch error {
            case .newer(let found):
                throw JournalError.newerSchema(path: path, found: found, known: JournalSchema.steps.count)
            case .database(let failure):
                // A session that began without the file would report all that it holds as lost.
                if failure.isLackOfDescriptors { throw JournalError.noDescriptors(path: path) }
                if failure.isCorruption { return replace(path, strength, failure) }
                let advice = "events are kept in memory, check its directory and file system"
                return Outcome(database: nil, loss: "cannot open the journal \(path): \(failure.message); \(advice)")
            }
        }
    }

    /// - Parameter didReadLog: called when SQLite has read the log, before anything is added to it.
    private static func openSound(
        _ path: String, _ strength: Database.Strength, didReadLog: (Database) -> Void = { _ in }
    ) throws(JournalSchema.Failure) -> (Database, isRepaired: Bool) {
        do {
            let database = try Database(path: path, strength: strength)
            _ = try database.integer("SELECT count(*) FROM sqlite_master")
            didReadLog(database)
            let isRepaired = try JournalSchema.migrate(database)
            try JournalSchema.verify(database)
            try inspect(database)
            return (database, isRepaired)
        } catch { throw JournalSchema.Failure(error) }
    }

    /// The small tables always; the whole file after an unclean end and while it is small.
    private static func inspect(_ database: Database) throws(SQLiteFailure) {
        let isClean = try database.integer("SELECT 1 FROM facts WHERE name='closed' AND value<>''") == 1
        let size = try database.integer("PRAGMA page_count") * database.integer("PRAGMA page_size")
        let isWhole = !isClean && size <= wholeCheckBytes
        let checks =
            isWhole ? ["PRAGMA quick_check(1)"] : JournalSchema.smallTables.map { "PRAGMA quick_check('\($0)')" }
        for check in checks {
            let answer = try database.prepare(check)
            if try answer.step(), answer.text(0) != "ok" {
                throw SQLiteFailure(code: SQLiteFailure.corrupt, message: answer.text(0))
            }
        }
    }

    static func replace(_ path: String, _ strength: Database.Strength, _ failure: SQLiteFailure) -> Outcome {
        // Until recovery reports it: after a crash the readable part would otherwise look complete.
        close(Glibc.open(mark(of: path), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        let aside = unusedName(beside: path)
        move(path, to: aside)
        let sentence =
            "the journal \(path) was damaged (\(failure.message)); it was set aside as \(aside) and a new one begun"
        guard let (fresh, _) = try? openSound(path, strength) else {
            let advice = "no new file could be made; events are kept in memory, check its directory"
            return Outcome(database: nil, loss: "\(sentence), but \(advice)", wasDamaged: true)
        }
        let count = Salvage.copy(from: aside, to: fresh)
        let loss = sentence + " with \(count.counted("event")) of the old one"
        return Outcome(database: fresh, loss: loss, wasDamaged: true)
    }

    /// A file that exists from the damage of a database until the damage is reported.
    static func mark(of path: String) -> String { path + "-damaged" }

    static func unusedName(beside path: String) -> String {
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
    /// Each is ordered by its first column, because a damaged file may have renamed it.
    private static let tables = [
        "facts", "devices", "handlers", "attempts", "owed", "dead_letters", "agenda", "events",
    ]

    /// How many events and progress records were copied. Rows whose check fails are left out when the new file is read.
    static func copy(from damaged: String, to fresh: Database) -> Int {
        guard let source = try? Database(path: damaged, strength: .normal) else { return 0 }
        // The rows may need more than memory has.
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

    /// A file of an older version has fewer, and a damaged one may have renamed them.
    private static func columns(of table: String, in database: Database) -> [String] {
        guard let rows = try? database.prepare("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid") else {
            return []
        }
        var names: [String] = []
        while (try? rows.step()) == true { names.append(rows.text(0)) }
        return names
    }

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
