// The device library of this checkout: its profiles, its shared characteristics and its published messages.
import WakeAuthoring
import WakeModel
import WakeProfiles
import WakeSystem

package enum ShippedLibrary {
    private static let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")

    package static let folder = "\(package)/Devices"
    /// Shown by the documentation; no device has them.
    package static let examples = ["example", "example-accessory"]
    package static let folders = names(in: folder).filter { $0 != "gatt" }
    package static let devices = folders.filter { !examples.contains($0) }

    package static let shared: [SharedDefinition] = names(in: "\(folder)/gatt").map { file in
        .init(name: String(file.dropLast(6)), file: "Devices/gatt/\(file)", text: bytes(of: "gatt/\(file)"))
    }

    package static let loaded = ProfileLibrary.load(
        folders.map { name in
            .init(name: name, file: "Devices/\(name)/profile.json5", text: bytes(of: "\(name)/profile.json5"))
        }, shared: shared)

    package static var library: ProfileLibrary { loaded.library }

    /// None where a device has no file of them.
    package static func vectors(of name: String) throws -> [Vector] {
        guard File.exists("\(folder)/\(name)/vectors.json5") else { return [] }
        let index = try index(of: name)
        return try Vector.read(
            bytes(of: "\(name)/vectors.json5"), file: "Devices/\(name)/vectors.json5", kind: library.head(index).kind)
    }

    package struct UnknownDevice: Error { let name: String }

    package static func index(of name: String) throws -> ProfileIndex {
        guard let index = library.index(named: name) else { throw UnknownDevice(name: name) }
        return index
    }

    private static func names(in folder: String) -> [String] { ((try? Directory.names(in: folder)) ?? []).sorted() }
    private static func bytes(of file: String) -> [UInt8] { (try? File.bytes(at: "\(folder)/\(file)")) ?? [] }
}
