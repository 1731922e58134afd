// The small files of the state directory that people can read and mend: nothing of theirs is lost to a program that cannot read it.
import Testing
import WakeModel
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine
@testable import WakeSources

/// A state directory, gone with the test.
private final class State {
    let root: String

    init() throws { root = try Directory.makeTemporary(prefix: "wakebooks") }
    deinit { Directory.removeTree(root) }

    func put(_ text: String, _ name: String) throws { try put(Array(text.utf8), name) }
    func put(_ bytes: [UInt8], _ name: String) throws { try File.replace("\(root)/\(name)", with: bytes) }
    func text(_ name: String) -> String? { try? File.text(at: "\(root)/\(name)") }
    var names: [String] { (try? Directory.names(in: root)) ?? [] }
}

private func known(_ serial: String) -> String {
    #"{"source":"/accessory/1a86:7523:\#(serial):00","vendor":"1a86","product":"7523","serial":"\#(serial)","#
        + #""interface":"00","ports":["usb-1"]}"#
}

private func device(_ serial: String) -> AccessoryIdentity {
    AccessoryIdentity(vendor: "1a86", product: "7523", serial: serial, interface: "00", port: "usb-2")
}

@Suite("Books of the state directory")
struct BookTests {
    @Test("lines of the known accessories that cannot be read stay as they are, byte for byte")
    func keepsLines() throws {
        let state = try State()
        let broken = Array("{\"source\": \u{e9}".utf8) + [0xff]
        let written: [[UInt8]] = [Array(known("A").utf8), broken, [], Array("garbage".utf8), []]
        try state.put(Array(written.joined(separator: [10])), "accessories")
        let book = AccessoryRegistryStore(in: state.root)
        var registry = book.read()
        #expect(registry.uris == ["/accessory/1a86:7523:A:00"])
        _ = registry.resolve(device("B"), attached: [])
        book.save(registry)
        book.write()
        let lines = try File.bytes(at: state.root + "/accessories").split(separator: 10)
        #expect(lines.count == 4 && lines.contains(broken[...]) && lines.contains(Array("garbage".utf8)[...]))
        #expect(AccessoryRegistryStore(in: state.root).read() == registry)
        #expect(state.names == ["accessories"])
    }

    @Test("a file of which nothing can be read is moved aside, each time under a name of its own, and not written over")
    func movesAside() throws {
        let state = try State()
        for (text, name) in [("one\ntwo\n", "accessories.unreadable"), ("three", "accessories.unreadable.2")] {
            try state.put(text, "accessories")
            let book = AccessoryRegistryStore(in: state.root)
            var registry = book.read()
            #expect(registry.uris == [] && state.text("accessories") == nil && state.text(name) == text)
            _ = registry.resolve(device("B"), attached: [])
            book.save(registry)
            book.write()
            #expect(state.text("accessories")?.contains(":B:") == true && state.text(name) == text)
        }
        try File.remove(state.root + "/accessories")
        try Directory.create(state.root + "/accessories/folder")
        #expect(AccessoryRegistryStore(in: state.root).read().uris == [])
        #expect(state.names.contains("accessories.unreadable.3") && !state.names.contains("accessories"))
    }

    @Test("what the turn of the loop brings is written at once, in the end, and nothing where nothing was brought")
    func writesOnce() throws {
        let state = try State()
        let book = AccessoryRegistryStore(in: state.root)
        var registry = book.read()
        for serial in ["A", "B"] {
            _ = registry.resolve(device(serial), attached: [])
            book.save(registry)
        }
        #expect(state.names == [])
        book.write()
        #expect(AccessoryRegistryStore(in: state.root).read() == registry)
        try File.remove(state.root + "/accessories")
        book.write()
        #expect(state.names == [])
    }

    @Test("the sessions' file keeps what it cannot read too, and is moved aside where that is all")
    func sessions() throws {
        let state = try State()
        try state.put("closed /accessory/a\nopen-ish /accessory/b\n", "sessions")
        let book = SessionStore(in: state.root)
        #expect(book["/accessory/a"] == .closed && book["/accessory/b"] == .open)
        try book.set(.paused, of: "/accessory/c", needsTrust: false)
        #expect(state.text("sessions") == "closed /accessory/a\npaused /accessory/c\nopen-ish /accessory/b\n")
        try book.settle("/accessory/a")
        try book.settle("/accessory/none")
        #expect(book["/accessory/a"] == .open)
        #expect(state.text("sessions") == "paused /accessory/c\nopen-ish /accessory/b\n")
        try state.put("\u{0}\u{1}x", "sessions")
        #expect(SessionStore(in: state.root)["/accessory/c"] == .open)
        #expect(state.names == ["sessions.unreadable"])
    }

    @Test("what was opened owes its trust until it is settled, over restarts; an accessory never does")
    func trust() throws {
        let state = try State()
        let book = SessionStore(in: state.root)
        try book.set(.closed, of: "/bluetooth/a", needsTrust: true)
        #expect(!book.awaitsTrust("/bluetooth/a"))
        try book.set(.open, of: "/bluetooth/a", needsTrust: true)
        try book.set(.open, of: "/accessory/b", needsTrust: false)
        #expect(state.text("sessions") == "open /bluetooth/a\n")
        let next = SessionStore(in: state.root)
        #expect(next["/bluetooth/a"] == .open && next.awaitsTrust("/bluetooth/a"))
        #expect(!next.awaitsTrust("/accessory/b"))
        try next.settle("/bluetooth/a")
        #expect(next["/bluetooth/a"] == .open && !next.awaitsTrust("/bluetooth/a"))
    }

    @Test("a file that can neither be read nor moved is left alone, and what is not kept is refused")
    func leavesAlone() throws {
        let state = try State()
        for number in 0...1_000 {
            try Directory.create("\(state.root)/sessions.unreadable" + (number < 2 ? "" : ".\(number)") + "/x")
        }
        try state.put("garbage", "sessions")
        let book = SessionStore(in: state.root)
        #expect(throws: SystemError.self) { try book.set(.closed, of: "/accessory/a", needsTrust: false) }
        #expect(book["/accessory/a"] == .open && state.text("sessions") == "garbage")
    }
}
