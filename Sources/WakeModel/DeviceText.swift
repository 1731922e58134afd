// What is the same in every line of one device, as JSON text made once and copied as it stands.

/// Shared by every line of its device, so that a line copies no strings.
public final class DeviceText: Sendable {
    /// From behind the number in the id of a data event to before its time.
    let dataHead: [UInt8]
    /// The member that names the profile; empty where none matched.
    let profile: [UInt8]
    public let alias: String
    private let source: String

    /// - Parameter member: that of its profile, where one was made before: the devices of one profile share it.
    public init(of device: Device, member: [UInt8]? = nil) {
        source = device.source
        alias = device.alias
        dataHead = Self.head(of: "wakebridge.device.data", from: device.source, about: device.alias).inItsOwnRoom
        profile = member ?? device.profile.map(Self.member) ?? []
    }

    /// From behind the number in the id to before the time of an event of this type.
    func head(of type: String) -> [UInt8] { Self.head(of: type, from: source, about: alias) }

    public static func member(profile: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.field("profile", profile)
        return writer.bytes.inItsOwnRoom
    }

    private static func head(of type: String, from source: String, about alias: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.verbatim("\",\"source\":")
        writer.string(source)
        writer.field("type", type)
        writer.field("subject", alias)
        writer.verbatim(",\"time\":")
        return writer.bytes
    }
}

extension [UInt8] {
    /// A copy with room for no more: a writer has taken some for a whole line, which would be kept for each device.
    fileprivate var inItsOwnRoom: [UInt8] { map { $0 } }
}
