// What is the same in every line of one type that a device's events make, as JSON text made once and copied as it stands.

/// Slices and offsets, and no strings: those of many devices may stand in one array, and a line copies nothing.
public struct DeviceText: Sendable {
    /// From behind the number in the id to before the time.
    public let head: ArraySlice<UInt8>
    /// What of it is the alias, in its quotes: a gap names it again.
    public var alias: ArraySlice<UInt8> { head[aliasPlaces] }
    private let aliasPlaces: Range<Int>
    /// The member that names the profile; empty where none matched.
    public let profile: [UInt8]

    /// Of what was made before, and is kept with others.
    public init(head: ArraySlice<UInt8>, alias: Range<Int>, profile: [UInt8]) {
        (self.head, aliasPlaces, self.profile) = (head, alias, profile)
    }

    /// - Parameters:
    ///   - type: of the lines, as ``DeviceEvent/Kind/written`` has it.
    ///   - member: that of its profile, where one was made before: the devices of one profile share it.
    public init(of device: Device, in type: String = DeviceEvent.Kind.dataWritten, member: [UInt8]? = nil) {
        var writer = JSONWriter()
        writer.verbatim("\",\"source\":")
        writer.string(device.source)
        writer.field("type", type)
        writer.key("subject")
        let start = writer.count
        writer.string(device.alias)
        aliasPlaces = start..<writer.count
        writer.verbatim(",\"time\":")
        head = writer.bytes[...]
        profile = member ?? device.profile.map(Self.member) ?? []
    }

    private static func member(profile: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.field("profile", profile)
        return writer.bytes
    }
}
