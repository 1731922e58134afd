// Every folder of the device library, by itself: a new device needs no new test code.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles
import WakeSystem

@Suite("The device library")
struct DeviceLibraryTests {
    @Test("every profile and every shared characteristic is read without a fault")
    func loads() {
        #expect(ShippedLibrary.loaded.errors.map(\.description) == [])
        #expect(ShippedLibrary.library.names == ShippedLibrary.folders)
    }

    @Test("every published message of a device comes out as its publisher says", arguments: ShippedLibrary.devices)
    func decodes(_ name: String) throws {
        let library = ShippedLibrary.library
        let index = try #require(library.index(named: name))
        let vectors = try ShippedLibrary.vectors(of: name)
        #expect(VectorCheck.mismatches(vectors, index, of: library).map(\.description) == [])
    }
}

extension DeviceLibraryTests {
    @Test("every device has published messages, each with its source", arguments: ShippedLibrary.devices)
    func isProven(_ name: String) throws {
        let vectors = try ShippedLibrary.vectors(of: name)
        #expect(vectors.count >= 2)
        for vector in vectors { #expect(vector.source.contains(" "), "vector \(vector.number) names its source") }
    }

    @Test("no two profiles ask for the same device or broadcast", arguments: ShippedLibrary.devices)
    func isAlone(_ name: String) throws {
        let library = ShippedLibrary.library
        let index = try #require(library.index(named: name))
        for sample in try DeviceSample.all(of: index, in: library) {
            let rivals = sample.rivals(in: library).map(library.name)
            // A device may say its values in another part of its broadcast than the one that it is known by.
            if sample.isBroadcast, !rivals.contains(name) { continue }
            #expect(rivals == [name], "\(sample)")
        }
    }

    @Test("every number says its unit, or what it counts", arguments: ShippedLibrary.devices)
    func hasUnits(_ name: String) throws {
        let profile = try JSONValue(json5: bytes(of: "\(ShippedLibrary.folder)/\(name)/profile.json5"))
        #expect(FieldName.all(in: profile).filter { !$0.saysUnit }.map(\.name) == [])
    }

    @Test("every number of a shared characteristic says its unit, or what it counts")
    func sharedHaveUnits() throws {
        for source in ShippedLibrary.shared {
            let unsaid = FieldName.all(in: try JSONValue(json5: source.text ?? [])).filter { !$0.saysUnit }.map(\.name)
            #expect(unsaid == [], "\(source.name)")
        }
    }

    @Test("keys stand in the order of the documentation", arguments: ShippedLibrary.devices)
    func isOrdered(_ name: String) throws {
        let profile = try JSONValue(json5: bytes(of: "\(ShippedLibrary.folder)/\(name)/profile.json5"))
        guard case .object(let members) = profile else { return #expect(Bool(false), "it is an object") }
        let order = [
            "name", "title", "mode", "match", "include", "notify", "read", "characteristics", "advertisement", "node",
            "serial", "framing", "sharing", "on_suspend", "settle", "replug_grace", "streams", "ask",
        ]
        #expect(members.map(\.name) == order.filter { key in members.contains { $0.name == key } })
    }
}
