// What the chart of a device is drawn from, from events to the page.
import Testing
import WakeLoop
import WakeModel
import WakeProfiles

@testable import WakeAPI
@testable import WakeEngine

@Suite("Charts of devices")
struct DeviceHistoryTests {
    @Test("a device of another bridge, whose profile only that one has, gets its chart from the values made there")
    func relayed() throws {
        let catalog = Catalog(profiles: ProfileLibrary())
        let origin = EventOrigin(rawValue: 1)
        catalog.set(
            Device(uri: "/remote/kitchen/usb/1", alias: "kitchen/scale", profile: "own-scale", kind: .remote), nil,
            as: origin)
        let history = try DeviceHistory(catalog, on: EventLoop(), usesOwnTime: false)
        let entry = try #require(catalog.entry(origin))
        let stamp = Stamp(
            moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 1_800_000_000_000_000))
        _ = history.page(of: entry, at: stamp.wall)
        let heard = HeardValue(.value, Array("{\"weight_kg\":70.5}".utf8))
        history.saw(
            DeviceEvent(origin: origin, kind: .data(.serial, [1]), stamp: stamp, heard: heard), as: nil)
        #expect(history.page(of: entry, at: stamp.wall)?.fields.keys.sorted() == ["weight_kg"])
    }
}
