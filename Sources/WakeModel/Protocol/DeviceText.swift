// The JSON text that all lines of one device and type share: made once, and copied into each line.

/// Holds slices and offsets instead of strings: many devices can share one array, and composing a line copies no string.
public struct DeviceText: Sendable {
    /// The text between the number in the id and the time.
    public let head: ArraySlice<UInt8>
    /// The part that is the alias, in its quotes: a gap repeats it.
    public var alias: ArraySlice<UInt8> { head[aliasPlaces] }
    private let aliasPlaces: Range<Int>
    /// The member that names the profile; empty where none matched.
    public let profile: [UInt8]

    /// Refers to text made before, which is kept with others.
    public init(head: ArraySlice<UInt8>, alias: Range<Int>, profile: [UInt8]) {
        (self.head, aliasPlaces, self.profile) = (head, alias, profile)
    }

    /// - Parameters:
    ///   - type: the type of the lines, ``DeviceEvent/Kind/wireName``.
    ///   - member: the profile's member, where one was made before: the devices of one profile share it.
    public init(of device: Device, in type: String = DeviceEvent.Kind.dataWireName, member: [UInt8]? = nil) {
        var writer = JSONWriter()
        writer.verbatim("\",\"source\":")
        writer.string(device.uri)
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
