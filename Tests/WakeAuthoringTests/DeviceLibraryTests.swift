// Every folder of the device library, by itself: a new device needs no new test code.
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles
import WakeSystem

/// The library as shipped.
enum ShippedLibrary {
    static let folder = "\(packageFolder)/Devices"
    static let examples = ["example", "example-accessory"]

    static let shared: [ProfileLibrary.Source] = names(in: "\(folder)/gatt").map { file in
        .init(name: String(file.dropLast(6)), file: "Devices/gatt/\(file)", text: bytes(of: "\(folder)/gatt/\(file)"))
    }

    static let folders = names(in: folder).filter { $0 != "gatt" }.sorted()
    static let devices = folders.filter { !examples.contains($0) }

    static let loaded = ProfileLibrary.load(
        folders.map { name in
            .init(name: name, file: "Devices/\(name)/profile.json5", text: bytes(of: "\(folder)/\(name)/profile.json5"))
        }, shared: shared)

    static var library: ProfileLibrary { loaded.library }

    static func vectors(of name: String) throws -> [Vector] {
        let file = "\(folder)/\(name)/vectors.json5"
        guard File.exists(file) else { return [] }
        let kind = library.head(try #require(library.index(named: name))).kind
        return try Vector.read(bytes(of: file), file: "Devices/\(name)/vectors.json5", kind: kind)
    }
}

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
