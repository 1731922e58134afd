// What lines are made with, kept for many devices in one place, against each made for itself.
import TestBench
import Testing
import WakeModel

@testable import WakeDaemon
@testable import WakeEngine

@Suite("The template of devices")
struct LineTemplateTableTests {
    private func device(_ number: Int, named alias: String, _ profile: String?) -> Device {
        Device(uri: "/bluetooth/\(number)", alias: alias, profile: profile, kind: .bluetoothCentral)
    }

    private func expectSame(_ template: LineTemplateTable.Template?, as device: Device) {
        let text = DeviceText(of: device)
        #expect(template.map { Array($0.text.head) } == Array(text.head))
        #expect(template.map { Array($0.text.alias) } == Array(text.alias))
        #expect(template?.text.profile == text.profile)
    }

    @Test(
        "devices that are named, renamed and given other profiles in any order each keep their own text",
        arguments: 1...5)
    func renames(seed: UInt64) {
        var (dice, table, devices) = (Dice(seed), LineTemplateTable(), [Int: Device]())
        for _ in 0..<400 {
            let number = dice.below(30)
            let alias = String(repeating: "\"ä", count: dice.below(4)) + "strap-\(dice.below(3))"
            let profile = [nil, "heart-rate-monitor", "scale"][dice.below(3)]
            let device = device(number, named: alias, profile)
            table.set(device, nil, at: number)
            devices[number] = device
        }
        // A hint, whomever it names.
        table.fetch([0, 1, 10_000])
        for (number, device) in devices { expectSame(table.template(of: number), as: device) }
        #expect(table.template(of: 1_000)?.text.head == nil)
    }

    @Test("when a device spoke last is known whatever it is called since")
    func lastData() {
        var table = LineTemplateTable()
        table.set(device(3, named: "one", nil), nil, at: 3)
        table.recordData(at: WallTime(microseconds: 7), of: 3)
        table.recordData(at: WallTime(microseconds: 8), of: 4)
        table.set(device(3, named: "other", nil), nil, at: 3)
        #expect(table.lastData(of: 3) == WallTime(microseconds: 7))
        #expect(table.lastData(of: 4) == nil && table.lastData(of: 2) == nil)
        #expect(table.template(of: 2)?.text.head == nil)
    }
}
