// Doubts about a profile that can be read: notifications that nothing decodes, and a trace that it does not match.
import WakeModel
import WakeProfiles
import WakeTrace

public struct ProfileReview {
    private let profile: Profile
    private let text: [UInt8]
    private let file: String

    /// - Parameters:
    ///   - text: the whole file.
    ///   - file: its name in warnings.
    public init(of profile: Profile, text: [UInt8], file: String) {
        (self.profile, self.text, self.file) = (profile, text, file)
    }

    /// A warning for each characteristic that is subscribed to and has no fields. Some of them are left raw on purpose.
    public var undecodedNotifications: [ConfigurationError] {
        let found = profile.notify.enumerated().filter { _, uuid in
            profile.channelNames[.characteristic(uuid)] == nil && !profile.optional.contains(uuid)
        }
        return located(
            found.map { place, uuid in
                ConfigurationError(
                    file: file,
                    sentence:
                        "notify[\(place)] is \(uuid), which is not among characteristics: its messages stay raw bytes",
                    place: .element(.key("notify"), place))
            })
    }

    /// A warning for each service that the match asks for, if no device of a trace has all of them. The nearest device is named.
    /// - Parameter trace: its name in warnings.
    public func servicesLacking(in header: TraceHeader, of trace: String) -> [ConfigurationError] {
        let wanted = profile.match.services
        let offers = header.devices.filter { $0.kind == profile.kind }.map { device in
            (device: device, lack: wanted.filter { !device.services.contains($0) })
        }
        guard let nearest = offers.min(by: { $0.lack.count < $1.lack.count }) else { return [] }
        let name = nearest.device.alias ?? nearest.device.name ?? nearest.device.uri
        let others = nearest.device.services.map(\.description).joined(separator: ", ")
        return located(
            nearest.lack.compactMap { uuid in
                wanted.firstIndex(of: uuid).map { place in
                    ConfigurationError(
                        file: file,
                        sentence:
                            "match.services[\(place)] asks for \(uuid), which \(name) does not offer in \(trace); "
                            + (others.isEmpty ? "no service of it is named there" : "it offers \(others)"),
                        place: .element(.value(of: "services", .key("match")), place))
                }
            })
    }

    private func located(_ warnings: [ConfigurationError]) -> [ConfigurationError] {
        ConfigurationErrors(warnings).located(in: text).all
    }
}
