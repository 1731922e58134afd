// HID devices whose report descriptor does not say what they do: they are heard all the same, and the daemon goes on.
import TestBench
import Testing
import WakeModel

@Suite(
    "HID devices that lie", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: MadeUpDevices.arePossible, MadeUpDevices.areMissing))
struct StrangeReportTests {
    /// What is told of reports of a knob that is described so: stream and bytes.
    private func told(of reports: [String], describedAs descriptor: String) throws -> [String] {
        let workshop = try Workshop()
        workshop.employ("turner", for: "knob")
        // With the daemon still there to say so in the end.
        _ = try workshop.play(
            """
            \(running)\(plugKnob(describedAs: descriptor))until connected cat NOTES/turner
            say /dev/hidraw0 \(reports.joined(separator: " ")) end
            until 656e640a cat NOTES/turner
            until exit%200 TOOL status
            """)
        return try workshop.notes("turner").filter { !$0.hasPrefix("connected ") }.map { line in
            let data = try JSONValue(parsing: Array(line.drop { $0 != "{" }.utf8))
            return "\(line.prefix { $0 != " " }) \(data["stream"]?.string ?? "") \(data["raw"]?.string ?? "")"
        }
    }

    @Test(
        "an item that goes past the end, a number that cannot be, an item taken back that was never put aside: reports are those without a number",
        arguments: ["0600ff0901a1018502150026ff00750895080901810227", "0600ff0901a1018500c0", "0600ff0901a101b4c0"])
    func breaks(descriptor: String) throws {
        let told = try told(of: ["%02ab", "x"], describedAs: descriptor)
        #expect(told == ["data report-0 0261620a", "data report-0 780a", "data report-0 656e640a"])
    }

    @Test("reports of a number and a length that it never spoke of come under the number that they begin with, whole")
    func surprises() throws {
        // Says that there is report 2, with eight bytes.
        let told = try told(
            of: ["%02", "%09abcdefghijkl"], describedAs: "0600ff0901a10185021500267f007508950809018102c0")
        #expect(
            told == ["data report-2 020a", "data report-9 096162636465666768696a6b6c0a", "data report-101 656e640a"])
    }
}
