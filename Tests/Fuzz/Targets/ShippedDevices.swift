// The profiles of this checkout, read once.
import WakeProfiles
import WakeSystem

enum ShippedDevices {
    /// Where this file lies below.
    private static let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        .joined(separator: "/")

    /// For devices that encrypt what they broadcast.
    static let key: [UInt8] = Array(0..<16)

    static let shared: [SharedDefinition] = {
        let folder = "\(package)/Devices/gatt"
        let names = (try? Directory.names(in: folder)) ?? []
        return names.filter { $0.hasSuffix(".json5") }.sorted().compactMap { name in
            guard let text = try? File.bytes(at: "\(folder)/\(name)") else { return nil }
            return SharedDefinition(name: String(name.dropLast(6)), file: "Devices/gatt/\(name)", edition: 0) { text }
        }
    }()

    static let library: ProfileLibrary = {
        let names = (try? Directory.names(in: "\(package)/Devices")) ?? []
        let sources = names.sorted().compactMap { name -> ProfileLibrary.Source? in
            let file = "Devices/\(name)/profile.json5"
            guard let text = try? File.bytes(at: "\(package)/\(file)") else { return nil }
            return ProfileLibrary.Source(name: name, file: file, text: text, reading: .whenNeeded)
        }
        return ProfileLibrary.load(sources, shared: shared).library
    }()
}
