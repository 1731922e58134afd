// The history of devices: what a chart is drawn from, and its bounds.
import Testing
import WakeModel

@testable import WakeAPI

@Suite("The history of devices") struct HistoryBookTests {
    private static let begin = WallTime(microseconds: 1_800_000_000_000_000)
    private let strap = EventOrigin(rawValue: 1)

    private func at(_ seconds: Double) -> WallTime {
        WallTime(microseconds: Self.begin.microseconds + Int64(seconds * 1_000_000))
    }

    private func book(_ values: [(second: Double, bpm: Double)]) -> HistoryBook {
        var book = HistoryBook(begin: Self.begin)
        for (second, bpm) in values { book.record([FieldValue(name: "bpm", number: bpm)], of: strap, at: at(second)) }
        return book
    }

    private func steps(
        _ book: HistoryBook, _ span: HistorySpan = .quarterHour, until: Double
    ) -> [[Double]] {
        let steps = book.page(of: strap)?.fields["bpm"]?.steps(span, until: at(until)) ?? []
        return steps.map { step in
            let second = Int64(step.index) * span.stepSeconds - Self.begin.microseconds / 1_000_000
            return [Double(second), step.mean, step.least, step.most]
        }
    }

    @Test("a strap's values come back second by second, several of one second as their mean, least and most")
    func seconds() {
        let book = book([(0.1, 60), (0.9, 70), (1.5, 80), (61, 90)])
        #expect(steps(book, until: 61) == [[0, 65, 60, 70], [1, 80, 80, 80], [61, 90, 90, 90]])
        #expect(steps(book, .day, until: 61) == [[0, 70, 60, 80], [60, 90, 90, 90]])
    }

    @Test("a value that comes late stands at its own time")
    func late() {
        let book = book([(0, 60), (10, 70), (5, 65), (5.5, 67), (-1, 50)])
        #expect(steps(book, until: 10) == [[-1, 50, 50, 50], [0, 60, 60, 60], [5, 66, 65, 67], [10, 70, 70, 70]])
    }

    @Test(
        "after two days at a value a second each field keeps a quarter of an hour by the second, and a day by the minute"
    )
    func isBounded() {
        let book = book((0..<172_800).map { (Double($0), Double($0)) })
        let seconds = steps(book, until: 172_799)
        #expect(seconds.count == 900 && seconds.first?[0] == 171_900 && seconds.last?[1] == 172_799)
        let minutes = steps(book, .day, until: 172_799)
        #expect(minutes.count == 1440 && minutes.first?[0] == 86_400)
        #expect(minutes.last == [172_740, 172_769.5, 172_740, 172_799])
    }

    @Test("a disconnect is a gap with its reason until the device is back, and a value proves that too")
    func absence() {
        var book = book([(0, 60)])
        book.disconnected(strap, why: "the link ended: timeout", at: at(10))
        book.disconnected(strap, why: "once more", at: at(11))
        #expect(book.page(of: strap)?.gaps.map(\.until) == [nil])
        book.record([FieldValue(name: "bpm", number: 61)], of: strap, at: at(20))
        book.disconnected(strap, why: "the link ended: remote-user", at: at(30))
        book.connected(strap, at: at(40))
        let gaps = book.page(of: strap)?.gaps(from: at(15), until: at(60)) ?? []
        #expect(gaps.map(\.from) == [at(15), at(30)] && gaps.map(\.until) == [at(20), at(40)])
        #expect(gaps.map(\.why) == ["the link ended: timeout", "the link ended: remote-user"])
        #expect(gaps.map(\.cause) == ["disconnected", "disconnected"])
    }

    @Test("the time before the history began is a gap that says so")
    func beginning() {
        let gaps = book([(0, 60)]).page(of: strap)?.gaps(from: at(-900), until: at(1)) ?? []
        #expect(gaps.map(\.cause) == ["not-recorded"] && gaps.first?.until == Self.begin)
        #expect(gaps.first?.why.hasSuffix(", and none over a restart") == true)
    }

    @Test("a long absence of the week is still shown after a hundred short ones, and so are the latest")
    func longAbsence() {
        var book = book([(0, 60)])
        func beAway(from: Double, until: Double) {
            book.disconnected(strap, why: "the link ended: timeout", at: at(from))
            book.connected(strap, at: at(until))
        }
        beAway(from: 10, until: 40_000)
        for number in 0..<100 { beAway(from: 50_000 + Double(number) * 1000, until: 50_010 + Double(number) * 1000) }
        let gaps = book.page(of: strap)?.gaps ?? []
        #expect(gaps.count == HistoryBook.mostGaps && gaps.first?.until == at(40_000))
        #expect(gaps.suffix(32).map(\.from) == (68..<100).map { at(50_000 + Double($0) * 1000) })
    }

    @Test("in a full book a device that is silent for days makes room for a new one, and the others keep their week")
    func silent() {
        var book = HistoryBook(begin: Self.begin)
        let (day, all) = (86_400.0, 0..<UInt32(HistoryBook.mostDevices))
        for device in all { book.record([bpm], of: EventOrigin(rawValue: device), at: at(Double(device))) }
        book.record([bpm], of: EventOrigin(rawValue: 999), at: at(3 * day))
        #expect(book.page(of: EventOrigin(rawValue: 999)) != nil)
        #expect(all.filter { book.page(of: EventOrigin(rawValue: $0)) == nil } == [0])
    }

    private let bpm = FieldValue(name: "bpm", number: 60)

    @Test("a full book takes no further device, but one that is asked for gets the room of one that is not")
    func asked() {
        var book = HistoryBook(begin: Self.begin)
        for device in 0..<200 as Range<UInt32> {
            let fields = (0..<30).map { FieldValue(name: "field_\($0)", number: 1) }
            book.record(fields, of: EventOrigin(rawValue: device), at: at(Double(device)))
        }
        #expect(book.count == HistoryBook.mostFields)
        #expect(book.page(of: EventOrigin(rawValue: 0))?.names.count == HistoryBook.mostFieldsOfDevice)
        let wanted = EventOrigin(rawValue: 199)
        #expect(book.page(of: wanted) == nil)
        book.ask(for: wanted, at: at(200))
        book.record([FieldValue(name: "bpm", number: 60)], of: wanted, at: at(201))
        #expect(book.page(of: wanted)?.names == ["bpm"] && book.page(of: EventOrigin(rawValue: 0)) == nil)
        #expect(book.count <= HistoryBook.mostFields)
    }

    @Test("when the wall clock is set back, what was later than it is gone, and what comes then is kept")
    func clockSetBack() {
        var book = book([(0, 60), (3_600, 70)])
        book.remove(after: at(5))
        book.record([FieldValue(name: "bpm", number: 62)], of: strap, at: at(6))
        #expect(steps(book, until: 10) == [[0, 60, 60, 60], [6, 62, 62, 62]])
    }

    @Test("the numbers of a decoded value are its fields, also those of an object in it; texts and lists are none")
    func fields() throws {
        let value = try JSONValue(
            parsing: Array(#"{"bpm":60,"contact":true,"rr_ms":[1,2],"gps":{"speed_m_s":1.5}}"#.utf8))
        #expect(
            FieldValue.all(in: value) == [
                FieldValue(name: "bpm", number: 60), FieldValue(name: "gps.speed_m_s", number: 1.5),
            ])
        #expect(["temperature_c", "gps.speed_m_s", "bpm", "index"].map(FieldUnit.of) == ["°C", "m/s", "bpm", nil])
    }
}
