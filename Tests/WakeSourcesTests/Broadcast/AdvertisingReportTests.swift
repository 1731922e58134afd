// What controllers report of advertisements, as the monitor channel carries it.
import TestBench
import Testing
import WakeHCI
import WakeModel

@Suite("Reports of advertisements")
struct AdvertisingReportTests {
    private func record(_ body: [UInt8]) -> [UInt8] {
        [3, 0, 1, 0, UInt8(body.count + 2), 0, 0x3e, UInt8(body.count)] + body
    }

    @Test("a legacy report has its address, its signal, its data and the controller that heard it")
    func legacy() {
        let body: [UInt8] = [0x02, 1, 0x00, 1, 0x01, 0xf4, 0xf3, 0xf2, 0xf1, 0xc0, 3, 2, 1, 6, 0xc4]
        let reports = AdvertisingReport.all(in: record(body))
        #expect(reports.map(\.address.description) == ["C0:F1:F2:F3:F4:01"])
        #expect(reports.first?.signal == -60 && reports.first?.data == [2, 1, 6] && reports.first?.controller == 1)
        #expect(reports.first?.isPublic == false)
    }

    @Test("an extended report too, and several in one event are all read")
    func extended() {
        let one: [UInt8] = [
            0x13, 0x00, 0x00, 0x01, 0xf4, 0xf3, 0xf2, 0xf1, 0xc0, 1, 0, 0xff, 0x7f, 0xb0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3,
            2,
            1, 6,
        ]
        let body: [UInt8] = [0x0d, 2] + one + one
        let reports = AdvertisingReport.all(in: record(body))
        #expect(reports.count == 2 && reports.allSatisfy { $0.data == [2, 1, 6] && $0.isPublic })
        #expect(reports.first?.signal == -80)
    }

    @Test("what is cut short or about something else is no report, and crashes nothing")
    func noise() {
        let whole = record([0x02, 1, 0x00, 1, 0x01, 0xf4, 0xf3, 0xf2, 0xf1, 0xc0, 3, 2, 1, 6, 0xc4])
        for length in 0..<whole.count { #expect(AdvertisingReport.all(in: Array(whole.prefix(length))).isEmpty) }
        var dice = Dice(5)
        for _ in 0..<20_000 {
            let body = (0..<dice.below(60)).map { _ in UInt8(dice.below(256)) }
            let kind: UInt8 = dice.isOne(in: 2) ? 0x02 : 0x0d
            _ = AdvertisingReport.all(in: record([kind] + body))
        }
    }
}
