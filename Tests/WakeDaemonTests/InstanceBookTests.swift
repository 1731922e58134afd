// Which devices of a manifest get a handler of their own, what it is called, and when it begins and ends.
import Testing
import WakeCore
import WakeModel

@testable import WakeEngine

@Suite("A handler for each device")
struct InstanceBookTests {
    private func manifest(_ watch: String = "{ profile: \"hr\" }", id: String = "log") throws -> HandlerManifest {
        let text = """
            { exec: ["/bin/cat"], modes: ["bluetooth-central"], instance: "device", watch: [\(watch)] }
            """
        return try HandlerManifest(id: id, file: "\(id).json5", text: Array(text.utf8), isRoot: false)
    }

    private func strap(_ number: Int, alias: String? = nil, profile: String = "hr") -> Device {
        let digits = String(number, radix: 16)
        let uri = "/bluetooth/C0:F1:F2:F3:F4:" + String(repeating: "0", count: max(0, 2 - digits.count)) + digits
        return Device(uri: uri, alias: alias ?? "strap-\(number)", profile: profile, kind: .bluetoothCentral)
    }

    private func names(_ book: InstanceBook) -> [String] { book.instances(of: "log").map(\.name) }

    @Test("each device that a manifest watches has a handler that watches this device alone")
    func expansion() throws {
        var book = InstanceBook()
        let watch = "{ profile: \"hr\", policy: \"latest\" }, { profile: \"hr\", device: \"left\", wake: false }"
        let devices = [strap(1, alias: "left"), strap(2), strap(3, profile: "x")]
        let changes = book.set(try manifest(watch), devices: devices)
        #expect(changes.ended.isEmpty && changes.current.map(\.name) == ["log@left", "log@strap-2"])
        #expect(changes.current.map(\.id) == ["log@bluetooth_C0=F1=F2=F3=F4=01", "log@bluetooth_C0=F1=F2=F3=F4=02"])
        let subscriptions = changes.current.flatMap(\.settings.subscriptions)
        #expect(subscriptions.map(\.device) == [strap(1).uri, strap(2).uri])
        #expect(subscriptions.map(\.wakes) == [false, true] && subscriptions.map(\.policy) == [.all, .latest])
        #expect(changes.current.allSatisfy { !$0.isPerDevice && $0.exec == ["/bin/cat"] })
    }

    @Test("a device that comes later begins one, the same again changes nothing, and a forgotten one ends its own")
    func comingAndGoing() throws {
        var book = InstanceBook()
        #expect(book.set(try manifest(), devices: []).isEmpty)
        #expect(book.know(strap(1)).current.map(\.name) == ["log@strap-1"])
        #expect(book.know(strap(1)).isEmpty)
        #expect(book.know(strap(2, profile: "scale")).isEmpty)
        let forgotten = book.know(strap(1, alias: strap(1).uri))
        #expect(forgotten.ended == ["log@bluetooth_C0=F1=F2=F3=F4=01"] && forgotten.current.isEmpty)
        #expect(book.know(strap(1)).current.map(\.id) == forgotten.ended, "paired again, it is the same one")
        #expect(book.know(strap(1, profile: "scale")).ended.count == 1, "a device of another profile is not watched")
    }

    @Test("a renamed device renames its handler, whose identity stays")
    func renaming() throws {
        var book = InstanceBook()
        let first = book.set(try manifest(), devices: [strap(1)]).current
        let second = book.know(strap(1, alias: "Peter's strap / left"))
        #expect(second.ended.isEmpty && second.current.map(\.name) == ["log@Peter-s-strap---left"])
        #expect(second.current.map(\.id) == first.map(\.id))
    }

    @Test("of two devices with one alias the second is called by its address too, and the first keeps its name")
    func doubles() throws {
        var book = InstanceBook()
        _ = book.set(try manifest(), devices: [strap(1, alias: "a b"), strap(2, alias: "a-b")])
        #expect(names(book) == ["log@a-b", "log@a-b.C0-F1-F2-F3-F4-02"])
        _ = book.set(try manifest(), devices: [strap(1, alias: "a b"), strap(2, alias: "a-b")])
        #expect(names(book) == ["log@a-b", "log@a-b.C0-F1-F2-F3-F4-02"])
    }

    @Test("beyond the most there are none, and what waited longest takes the place of one that ends")
    func bound() throws {
        var book = InstanceBook()
        let devices = (0..<(InstanceBook.most + 2)).map { strap($0) }
        _ = book.set(try manifest(), devices: devices)
        #expect(names(book).count == InstanceBook.most)
        #expect(book.waiting(for: "log").map(\.alias) == ["strap-64", "strap-65"])
        #expect(book.know(strap(70)).hasRefused && !book.know(strap(70)).hasRefused)
        let changes = book.know(strap(3, alias: strap(3).uri))
        #expect(changes.ended.count == 1 && changes.current.map(\.name) == ["log@strap-64"])
        #expect(book.know(strap(3)).hasRefused, "a place that was given up is another's")
        let again = book.set(try manifest(), devices: Array(devices.reversed()))
        #expect(again.ended.isEmpty && again.current.isEmpty, "those that have one keep it, whatever the order")
    }

    @Test(
        "a device that is there takes the place of one that is away, of those the one that came last, and gives it back so"
    )
    func arrival() throws {
        var book = InstanceBook()
        let devices = (0..<(InstanceBook.most + 2)).map { strap($0) }
        _ = book.set(try manifest(), devices: devices)
        let (real, other) = (strap(64), strap(65))
        #expect(book.isWaiting(real.uri) && !book.isWaiting(strap(5).uri))
        #expect(book.arrive(real, isAway: { _ in false }).isEmpty, "all are there")
        let away: Set<String> = [strap(2).uri, strap(7).uri]
        let first = book.arrive(real, isAway: away.contains)
        #expect(first.current.map(\.name) == ["log@strap-64"] && first.ended == ["log@bluetooth_C0=F1=F2=F3=F4=07"])
        let second = book.arrive(other, isAway: away.contains)
        #expect(second.current.map(\.name) == ["log@strap-65"] && second.ended == ["log@bluetooth_C0=F1=F2=F3=F4=02"])
        #expect(book.waiting(for: "log").map(\.alias) == ["strap-7", "strap-2"] && !second.hasRefused)
        let back = book.arrive(strap(2), isAway: { $0 == real.uri })
        #expect(back.current.map(\.name) == ["log@strap-2"] && back.ended == ["log@bluetooth_C0=F1=F2=F3=F4=40"])
        #expect(book.arrive(strap(2), isAway: { _ in true }).isEmpty, "it has its place")
        #expect(names(book).count == InstanceBook.most)
    }

    @Test("a changed manifest changes each of its handlers, a narrower one ends some, and one that is gone ends all")
    func reload() throws {
        var book = InstanceBook()
        _ = book.set(try manifest(), devices: [strap(1), strap(2)])
        let latest = "{ profile: \"hr\", policy: \"latest\" }"
        #expect(book.set(try manifest(latest), devices: [strap(1), strap(2)]).current.count == 2)
        let narrow = book.set(try manifest("{ profile: \"hr\", device: \"strap-2\" }"), devices: [strap(1), strap(2)])
        #expect(narrow.ended.count == 1 && narrow.current.map(\.name) == ["log@strap-2"])
        #expect(book.remove("log").ended == ["log@bluetooth_C0=F1=F2=F3=F4=02"])
        #expect(book.remove("log").isEmpty && book.know(strap(1)).isEmpty)
    }

    @Test("two manifests that match one device each have a handler for it")
    func twoManifests() throws {
        var book = InstanceBook()
        _ = book.set(try manifest(), devices: [])
        _ = book.set(try manifest(id: "show"), devices: [])
        #expect(book.know(strap(1)).current.map(\.name) == ["log@strap-1", "show@strap-1"])
    }

    @Test(
        "whatever a device is called, the names of folders are plain, short, and different for different devices",
        arguments: [
            "/accessory/2341:0043:7583 x", "/accessory/2341:0043:7583_x", "/accessory/2341:0043:../../etc",
            "/accessory/2341:0043:7583=x", "/accessory/2341:0043:\u{7f}\n", "/accessory/2341:0043:%20", "/accessory//",
            "/accessory/2341:0043:äöü", "/remote/kitchen/accessory/2341:0043:7583",
            "/accessory/" + String(repeating: "9", count: 500), "/accessory/" + String(repeating: "9", count: 501),
            "/accessory/.", "/accessory/..",
        ])
    func folders(uri: String) throws {
        let made = { (uri: String) in
            let device = Device(uri: uri, alias: "a", profile: "hr", kind: .bluetoothCentral)
            return try manifest().instance(for: device, named: "n").id
        }
        let id = try made(uri)
        #expect(id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") } && id.utf8.count <= 220)
        #expect(id.hasPrefix("log@"))
        let others = ["/accessory/2341:0043:7583", uri + "0", "/accessory/2341:0043:7583=y"]
        for other in others { #expect(try made(other) != id) }
    }

    @Test(
        "aliases that are no word become one",
        arguments: [
            ("", "log@-"), ("a b", "log@a-b"), ("../x", "log@..-x"), ("\u{1b}[31m", "log@--31m"),
            ("Größe 1", "log@Größe-1"),
            (String(repeating: "x", count: 300), "log@" + String(repeating: "x", count: 64)),
        ])
    func words(alias: String, name: String) throws {
        var book = InstanceBook()
        #expect(book.set(try manifest(), devices: [strap(1, alias: alias)]).current.map(\.name) == [name])
    }
}
