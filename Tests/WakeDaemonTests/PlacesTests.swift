// Where things are for whom: a table over users, what their environment says, and which sockets are there.
import Glibc
import Testing
import WakeProfiles
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine

private let machines = "/run/wakebridge/control.sock"

private struct Place: CustomTestStringConvertible {
    var user: UInt32 = 1000
    var environment: [String: String] = ["HOME": "/users/kim"]
    var account: String? = "/accounts/kim"
    var present: Set<String> = []
    /// Directories of other users.
    var foreign: Set<String> = []
    var configuration = "/users/kim/.config/wakebridge"
    var socket: String
    var other: String?

    var testDescription: String { "user \(user), \(environment.sorted { $0.key < $1.key }), \(present.sorted())" }
}

private let places = [
    Place(user: 0, configuration: "/etc/wakebridge", socket: machines),
    Place(user: 0, environment: ["XDG_RUNTIME_DIR": "/x"], configuration: "/etc/wakebridge", socket: machines),
    // Neither is there: the user's own is meant, and both are told.
    Place(socket: "/tmp/wakebridge-1000/wakebridge/control.sock", other: machines),
    Place(present: ["/run/user/1000"], socket: "/run/user/1000/wakebridge/control.sock", other: machines),
    Place(
        environment: ["HOME": "/users/kim", "XDG_RUNTIME_DIR": "/x", "XDG_CONFIG_HOME": "/c"],
        configuration: "/c/wakebridge", socket: "/x/wakebridge/control.sock", other: machines),
    // What su and sudo -E leave of another user's session is passed over.
    Place(
        environment: ["HOME": "/users/kim", "XDG_RUNTIME_DIR": "/run/user/7"],
        present: ["/run/user/7/wakebridge/control.sock", "/run/user/1000"], foreign: ["/run/user/7"],
        socket: "/run/user/1000/wakebridge/control.sock", other: machines),
    Place(
        environment: ["HOME": "/users/kim", "XDG_RUNTIME_DIR": "/run/user/7"], foreign: ["/run/user/7"],
        socket: "/tmp/wakebridge-1000/wakebridge/control.sock", other: machines),
    // Without a word of the environment the account's home counts, and without any that place in /tmp which is his.
    Place(
        environment: [:], configuration: "/accounts/kim/.config/wakebridge",
        socket: "/tmp/wakebridge-1000/wakebridge/control.sock", other: machines),
    Place(
        environment: ["XDG_RUNTIME_DIR": "/x"], account: "", configuration: "/tmp/wakebridge-1000/.config/wakebridge",
        socket: "/x/wakebridge/control.sock", other: machines),
    Place(
        environment: [:], account: nil, configuration: "/tmp/wakebridge-1000/.config/wakebridge",
        socket: "/tmp/wakebridge-1000/wakebridge/control.sock", other: machines),
    // The system's answers users too.
    Place(present: [machines], socket: machines),
    Place(present: ["/run/user/1000", machines], socket: machines),
    // Who runs one of his own means that one.
    Place(
        present: ["/run/user/1000", "/run/user/1000/wakebridge/control.sock", machines],
        socket: "/run/user/1000/wakebridge/control.sock"),
    Place(
        environment: ["HOME": "/users/kim", "XDG_RUNTIME_DIR": "/x"],
        present: ["/x/wakebridge/control.sock", machines], socket: "/x/wakebridge/control.sock"),
]

/// Two folders of profiles, each of which can be put out of sight.
private final class Shelf {
    let root: String
    /// The folders that could not be listed at the last reading.
    private(set) var blind: [String] = []

    init() throws { root = try Directory.makeTemporary(prefix: "wakeshelf") }
    deinit { Directory.removeTree(root) }

    func put(_ place: String, _ title: String) throws {
        try Directory.create("\(root)/\(place)")
        let name = place.split(separator: "/")[1]
        let text =
            "{ name: \"\(name)\", title: \"\(title)\", mode: \"bluetooth-central\", match: { services: [\"180d\"] } }"
        try File.replace("\(root)/\(place)/profile.json5", with: Array(text.utf8), mode: 0o644)
    }

    func take(_ place: String) throws { try File.remove("\(root)/\(place)/profile.json5") }

    /// A link to itself is there, and nobody can list it, root neither.
    func hide(_ folder: String) throws {
        #expect(rename("\(root)/\(folder)", "\(root)/.\(folder)") == 0)
        #expect(symlink(folder, "\(root)/\(folder)") == 0)
    }

    func show(_ folder: String) throws {
        try File.remove("\(root)/\(folder)")
        #expect(rename("\(root)/.\(folder)", "\(root)/\(folder)") == 0)
    }

    /// As a daemon's reload does; the titles, sorted by name.
    func read(into library: inout ProfileLibrary) -> [String] {
        let reading = ProfileFolder.read(["\(root)/one", "\(root)/two"], after: library)
        blind = reading.errors.map(\.file)
        #expect(library.update(with: Array(reading.sources.values), keeping: reading.kept).errors == [])
        return library.all.map(\.title)
    }
}

@Suite("Places")
struct PlacesTests {
    @Test(
        "a user asks his own daemon where he runs one, else the system's, and is told of both where there is none",
        arguments: places)
    fileprivate func table(_ place: Place) {
        let found = BridgePlaces(
            of: place.user, environment: { place.environment[$0] }, home: { place.account },
            exists: { place.present.contains($0) }, isOwn: { !place.foreign.contains($0) })
        #expect(found.controlSocket == place.socket && found.otherSocket == place.other)
        #expect(found.configuration == place.configuration)
        #expect(found.runtime != "/run/wakebridge" || place.user == 0, "a user's daemon is never the system's")
    }

    @Test("what another user has made is refused with his name, and what is one's own or is not there is none of his")
    func owners() throws {
        let folder = try Directory.makeTemporary(prefix: "wakeplaces")
        defer { Directory.removeTree(folder) }
        try Directory.refuse(folder, advice: "run")
        try Directory.refuse(folder + "/none", unlessOf: geteuid() + 1, advice: "run")
        let me = try Account.current().name
        do throws(SystemError) {
            try Directory.refuse(folder, unlessOf: geteuid() + 1, advice: "run")
            Issue.record("it belongs to \(me)")
        } catch {
            #expect(error.description.hasPrefix("could not use \(folder): "))
            #expect(error.description.hasSuffix("; it belongs to \(me); run"))
        }
    }

    @Test("every user gets the shipped profiles and the machine's, and their own before both")
    func profiles() {
        let folders = { (user: UInt32, configuration: String) in
            ProfileFolder.known(besides: ["/usr/share"], in: configuration, user: user)
        }
        #expect(folders(0, "/etc/wakebridge") == ["/usr/share", "/etc/wakebridge/Devices"])
        #expect(folders(0, "/tmp/config") == ["/usr/share", "/tmp/config/Devices"])
        #expect(folders(1000, "/users/kim/c") == ["/usr/share", "/etc/wakebridge/Devices", "/users/kim/c/Devices"])
        #expect(folders(1000, "/etc/wakebridge") == ["/usr/share", "/etc/wakebridge/Devices"])
    }

    @Test("of one name the later folder's profile counts, and one that cannot be read is told and counts for nothing")
    func laterCounts() throws {
        let folder = try Directory.makeTemporary(prefix: "wakeplaces")
        defer { Directory.removeTree(folder) }
        for (place, title) in [("one/strap", "First"), ("two/strap", "Second"), ("one/pod", "Pod")] {
            try Directory.create("\(folder)/\(place)")
            let name = place.split(separator: "/")[1]
            let text =
                "{ name: \"\(name)\", title: \"\(title)\", mode: \"bluetooth-central\", match: { services: [\"180d\"] } }"
            try File.replace("\(folder)/\(place)/profile.json5", with: Array(text.utf8), mode: 0o644)
        }
        // A folder in the place of the file is there, and no text.
        try Directory.create("\(folder)/two/pod/profile.json5")
        let (library, errors) = ProfileFolder.load(["\(folder)/none", "\(folder)/one", "\(folder)/two"])
        #expect(library.all.map(\.title) == ["Second"])
        #expect(errors.map(\.file) == ["\(folder)/two/pod/profile.json5"])
    }

    @Test(
        "of a folder that cannot be listed all stays as it was read, but what a later folder has; of the others nothing does"
    )
    func outOfSight() throws {
        let shelf = try Shelf()
        for (place, title) in [
            ("one/strap", "First"), ("one/pod", "Pod"), ("two/strap", "Second"), ("two/watch", "Watch"),
        ] {
            try shelf.put(place, title)
        }
        var library = ProfileLibrary()
        #expect(shelf.read(into: &library) == ["Pod", "Second", "Watch"])
        // The earlier one: what the later had is followed still, and goes without the earlier's taking its place.
        try shelf.hide("one")
        try shelf.put("two/watch", "Clock")
        try shelf.take("two/strap")
        #expect(shelf.read(into: &library) == ["Pod", "Clock"])
        #expect(shelf.blind == ["\(shelf.root)/one"])
        try shelf.put("two/pod", "Later pod")
        #expect(shelf.read(into: &library) == ["Later pod", "Clock"])
        try shelf.show("one")
        #expect(shelf.read(into: &library) == ["Later pod", "First", "Clock"])
        // The later one: what it had stands before what the earlier one brings.
        try shelf.hide("two")
        try shelf.put("one/watch", "Earlier watch")
        try shelf.put("one/strap", "Strap")
        #expect(shelf.read(into: &library) == ["Later pod", "Strap", "Clock"])
        #expect(shelf.blind == ["\(shelf.root)/two"])
    }
}
