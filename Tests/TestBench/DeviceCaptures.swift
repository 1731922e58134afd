// Recordings of real devices, which are not part of the package; where they are absent, tests say so and are skipped.

package enum DeviceCaptures {
    package static let folder = environment("WAKEBRIDGE_CAPTURES") ?? "\(packageFolder)/../shared/captures"
    package static var exist: Bool { !names(in: folder).isEmpty }
    package static var hindrance: String? {
        exist ? nil : "no captures at \(folder); WAKEBRIDGE_CAPTURES says where they are"
    }

    package static func bytes(_ name: String) -> [UInt8] { TestBench.bytes(of: "\(folder)/\(name)") }
    /// Some end with a carriage return too.
    package static func lines(_ name: String) -> [String] {
        text(of: "\(folder)/\(name)").split(whereSeparator: \.isNewline).map(String.init)
    }
    /// What btsnoop recorded of a Bluetooth device.
    package static func btsnoop(_ name: String) -> String { "\(folder)/bluetooth/\(name).btsnoop" }
}
