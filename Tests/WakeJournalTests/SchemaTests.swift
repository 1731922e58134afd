// The constant description of the tables is what the steps make.
import Testing

@testable import WakeJournal

struct SchemaTests {
    @Test("the constant description of the tables is what the steps make")
    func tables() throws {
        let fresh = try Database(path: ":memory:", strength: .normal)
        _ = try JournalSchema.migrate(fresh)
        #expect(try JournalSchema.tables(of: fresh) == JournalSchema.tables)
    }
}
