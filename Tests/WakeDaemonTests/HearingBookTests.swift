// What the next life of the bridge knows of links that were down when this one ended.
import Testing
import WakeModel
import WakeSystem

@testable import WakeDaemon

@Suite("The book of what was heard") struct HearingBookTests {
    private let folder: String
    private let strap = "/bluetooth/C0:DE:00:00:00:01"
    private let scale = "/bluetooth/C0:DE:00:00:00:02"
    private let early = WallTime(microseconds: 1_000_000)
    private let alive = WallTime(microseconds: 9_000_000)

    init() throws {
        folder = try Directory.makeTemporary(prefix: "wakebook")
        for name in ["run", "state"] { try Directory.create("\(folder)/\(name)") }
    }

    private func book(aliveUntil: WallTime?) -> HearingBook {
        HearingBook(
            runtimeDirectory: folder + "/run", stateDirectory: folder + "/state", known: [strap, scale],
            aliveUntil: aliveUntil)
    }

    @Test(
        "one that was down is known by when it was last heard, over any number of lives; one that was up by their end")
    func remembers() {
        defer { Directory.removeTree(folder) }
        let first = book(aliveUntil: nil)
        #expect(first[strap] == nil)
        first.note(strap, heardUntil: early)
        first.note(scale, heardUntil: early)
        first.note(scale, heardUntil: nil)
        first.keep()
        // Killed. The next life meets neither.
        let second = book(aliveUntil: alive)
        #expect(second[strap] == early && second[scale] == alive)
        let third = book(aliveUntil: alive + .seconds(5))
        #expect(third[strap] == early && third[scale] == alive)
    }

    @Test("an end in order is known after a boot, once; after a crash and a boot only the end of that life is")
    func outlivesBoot() throws {
        defer { Directory.removeTree(folder) }
        let first = book(aliveUntil: nil)
        first.note(strap, heardUntil: early)
        first.keep()
        first.close()
        try File.remove(folder + "/run/heard")
        let second = book(aliveUntil: alive)
        #expect(second[strap] == early)
        second.note(strap, heardUntil: nil)
        second.keep()
        try File.remove(folder + "/run/heard")
        #expect(book(aliveUntil: alive)[strap] == alive)
    }

    @Test("nonsense in its file is left out")
    func withstandsNonsense() throws {
        defer { Directory.removeTree(folder) }
        try File.replace(folder + "/run/heard", with: Array("x\n\u{fffd} y\n1 \n1000000 \(strap)\n5 stranger\n".utf8))
        let book = book(aliveUntil: alive)
        #expect(book[strap] == early && book[scale] == alive && book["stranger"] == nil)
    }
}
