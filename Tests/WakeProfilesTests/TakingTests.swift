// Profiles that are read again while the library is in use: what is new, other, broken or gone, and what its indices say then.
import Testing
import WakeModel

@testable import WakeProfiles

private func source(_ name: String, _ field: String, broken: Bool = false) -> ProfileLibrary.Source {
    let text = """
        { \(broken ? "nmae" : "name"): "\(name)", title: "\(field)", mode: "bluetooth-central", match: { services: ["180d"] },
          characteristics: { "2a37": { name: "value", fields: [{ name: "\(field)", type: "uint8" }] } } }
        """
    return .init(name: name, file: "\(name)/profile.json5", text: Array(text.utf8))
}

private func decoded(_ library: ProfileLibrary, _ index: ProfileIndex) throws -> String {
    var writer = JSONWriter()
    let channel = Channel.characteristic(BluetoothUUID(short: 0x2a37))
    _ = try library.decoder(index).decode([7], from: channel, into: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}

@Suite("Profiles read again")
struct TakingTests {
    @Test("a changed profile has a new index, and under the old one it reads as it did")
    func changes() throws {
        var library = ProfileLibrary.load([source("strap", "bpm"), source("pod", "steps")]).library
        let old = try #require(library.index(named: "strap"))
        let pod = library.index(named: "pod")
        let changes = library.update(with: [source("strap", "rate"), source("pod", "steps"), source("band", "laps")])
        #expect(changes.updated == ["band", "strap"] && changes.dropped == [] && changes.errors == [])
        let new = try #require(library.index(named: "strap"))
        #expect(new != old && library.index(named: "pod") == pod)
        #expect(try decoded(library, old) == #"{"bpm":7}"#)
        #expect(try decoded(library, new) == #"{"rate":7}"#)
        #expect(library.names == ["band", "pod", "strap"])
        let match = library.match(kind: .bluetoothCentral, services: [BluetoothUUID(short: 0x180d)])
        #expect(match == library.index(named: "band"))
    }

    @Test("an unchanged profile is not loaded again, and a removed one matches no device any more")
    func drops() throws {
        var library = ProfileLibrary.load([source("strap", "bpm"), source("pod", "steps")]).library
        let old = try #require(library.index(named: "strap"))
        #expect(library.update(with: [source("strap", "bpm"), source("pod", "steps")]).isEmpty)
        #expect(library.update(with: [source("pod", "steps")]).dropped == ["strap"])
        #expect(library.index(named: "strap") == nil && library.names == ["pod"])
        #expect(library.match(kind: .bluetoothCentral, services: [BluetoothUUID(short: 0x180d)]) != old)
        #expect(try decoded(library, old) == #"{"bpm":7}"#)
        #expect(library.update(with: [source("strap", "bpm"), source("pod", "steps")]).updated == ["strap"])
    }

    @Test("a profile that is broken now, or cannot be read, is told each time and stays as it was")
    func stays() throws {
        var library = ProfileLibrary.load([source("strap", "bpm"), source("pod", "steps")]).library
        let strap = library.index(named: "strap")
        for _ in 0..<2 {
            let changes = library.update(with: [source("strap", "bpm", broken: true)], keeping: ["pod"])
            #expect(changes.isEmpty && changes.errors.allSatisfy { $0.file == "strap/profile.json5" })
            #expect(!changes.errors.isEmpty)
        }
        #expect(library.index(named: "strap") == strap && library.names == ["pod", "strap"])
        #expect(library.update(with: [source("strap", "bpm"), source("pod", "steps")]).isEmpty)
    }
}
