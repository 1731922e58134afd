// The bridge as every source sees it: the facts that a source may request, and the events that it reports.
import WakeLoop
import WakeModel
import WakeProfiles

public protocol SourceHost: AnyObject {
    var loop: EventLoop { get }
    var clock: any WakeClock { get }
    var profiles: ProfileLibrary { get }

    /// Every device that the bridge has known, in this life or an earlier one, there or not.
    var knownDevices: [Device] { get }
    /// A known device, in its latest known form.
    func knownDevice(at uri: String) -> Device?
    /// The session that an operator has set.
    func session(of uri: String) -> LinkSession
    /// An operator opened its session where it could not be trusted: the source has to trust it.
    func awaitsTrust(_ uri: String) -> Bool
    /// How far it was followed, as last recorded; nil if it never was.
    func listening(to uri: String) -> Listening?
    /// Whether a handler is awake that receives its events.
    func isWanted(_ uri: String) -> Bool

    /// Whether a manifest watches devices of the profile.
    func isWatched(_ profile: String) -> Bool
    /// The devices that manifests name, each with the profile by which it is watched.
    var namings: [DeviceNaming] { get }
    /// The beacon patterns of the manifests' regions.
    var beacons: Set<BeaconPattern> { get }
    /// Whether beacons of a region are near, where that changes.
    func report(_ presence: RegionPresence, of beacon: BeaconPattern)

    /// A device is watched from now on, or its name, its profile or its bond is another.
    /// - Parameter profile: nil for the one that it has.
    func introduce(_ device: Device, by profile: ProfileIndex?)
    /// Ignored for a device that was never introduced.
    /// - Parameter stamp: when it happened, which may be earlier than now.
    func raise(_ kind: DeviceEvent.Kind, of uri: String, at stamp: Stamp)
    /// Records how far it is followed, where that changes, after the events of the change. The record outlives
    /// restarts.
    func record(_ listening: Listening, of uri: String)
    /// The session of the device is open and needs nothing more, such as trust.
    func settleSession(of uri: String)
    /// The device is unknown from now on: its session and its name are free for another.
    func forget(_ uri: String)
    /// How far the stream of another bridge was followed, as last recorded; nil if it never was.
    func position(ofStream stream: String) -> StreamPosition?
    /// Raises events of another bridge, of introduced devices, in one commit with its stream's position.
    /// - Parameter position: nil if it does not change.
    func relay(_ events: [RelayedEvent], of stream: String, followedTo position: String?)
    /// Reports a condition of the machine to every handler.
    func announce(_ notice: Notice)
    /// Ends the turn soon, so that it keeps the records though no event requires that.
    func requestTurn()
}

/// Requests that only a source of broadcasts makes.
extension SourceHost {
    public var namings: [DeviceNaming] { [] }
    public var beacons: Set<BeaconPattern> { [] }
    public func report(_ presence: RegionPresence, of beacon: BeaconPattern) {}
}

/// Requests that only a source of other bridges' devices makes.
extension SourceHost {
    public func position(ofStream stream: String) -> StreamPosition? { nil }
    public func relay(_ events: [RelayedEvent], of stream: String, followedTo position: String?) {}
}

/// How far a stream was followed.
public struct StreamPosition: Hashable, Sendable {
    /// As it was recorded.
    public var text: String
    /// False where a later one was lost together with the events that it covered.
    public var isCertain: Bool

    public init(text: String, isCertain: Bool) { (self.text, self.isCertain) = (text, isCertain) }
}

extension ProtocolFault {
    init(_ failure: TalkFailure, _ request: DeviceRequest) {
        let device = request.address.device
        switch failure {
        case .notConnected: self = .notConnected(device, verb: request.verb)
        case .notOffered(let why), .refused(let why):
            self = .deviceFailed(device, verb: request.verb, why: why)
        }
    }
}

/// Why a device did not perform a handler's request.
public enum TalkFailure: Error, Hashable, Sendable {
    case notConnected
    /// The device has no such characteristic or stream, or it cannot be read or written.
    case notOffered(String)
    case refused(String)
}
