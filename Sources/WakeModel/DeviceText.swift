// What is the same in every line of one type that a device's events make, as JSON text made once and copied as it stands.

/// Small: of ten thousand devices nearly each is found in cold memory by the line that asks for it.
public struct DeviceText: Sendable {
    /// From behind the number in the id to before the time.
    let head: [UInt8]
    /// Where in it the alias stands, in its quotes: a gap names it again.
    private let subject: Range<Int32>
    /// The member that names the profile; empty where none matched.
    let profile: [UInt8]

    /// - Parameters:
    ///   - type: of the lines, as ``DeviceEvent/Kind/written`` has it.
    ///   - member: that of its profile, where one was made before: the devices of one profile share it.
    public init(of device: Device, in type: String = DeviceEvent.Kind.dataWritten, member: [UInt8]? = nil) {
        var writer = JSONWriter()
        writer.verbatim("\",\"source\":")
        writer.string(device.source)
        writer.field("type", type)
        writer.key("subject")
        let start = Int32(writer.count)
        writer.string(device.alias)
        subject = start..<Int32(writer.count)
        writer.verbatim(",\"time\":")
        head = writer.bytes.inItsOwnRoom
        profile = member ?? device.profile.map(Self.member) ?? []
    }

    var alias: ArraySlice<UInt8> { head[Int(subject.lowerBound)..<Int(subject.upperBound)] }

    public static func member(profile: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.field("profile", profile)
        return writer.bytes.inItsOwnRoom
    }
}

extension [UInt8] {
    /// A copy with room for no more: a writer has taken some for a whole line, which would be kept for each device.
    fileprivate var inItsOwnRoom: [UInt8] { map { $0 } }
}
