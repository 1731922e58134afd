// The lab's scenarios as tests: real bluetoothd, real kernel, real cgroups, in a virtual machine of its own.
import TestBench
import Testing

@Suite(
    "Lab", .serialized, .tags(.fullScale, .gate, .outside),
    .enabled(unless: LabRun.hindrance))
struct LabTests {
    @Test("in the lab", arguments: LabScenario.all)
    func holds(_ scenario: LabScenario) {
        let places = LabRun.places.joined(separator: " and ")
        guard let outcome = LabRun.outcomes[scenario.name] else {
            Issue.record("\(scenario.name) was not played; see out and console in \(places)")
            return
        }
        for skip in outcome.skips { print("SKIPPED: the lab's \(scenario.name): \(skip)") }
        for debt in outcome.debts { withKnownIssue { Issue.record("not yet: \(debt)") } }
        for excuse in outcome.excuses { withKnownIssue { Issue.record("played again, because \(excuse)") } }
        for failure in outcome.failures {
            Issue.record("\(scenario.name): \(failure); see its folder in \(places)")
        }
        #expect(outcome.hasEnded || !outcome.failures.isEmpty, "\(scenario.name) did not end; see out in \(places)")
        let said = outcome.claims + outcome.skips + outcome.failures
        #expect(!said.isEmpty, "\(scenario.name) claims nothing")
    }
}
