// The lab's scenarios as tests: real bluetoothd, real kernel, real cgroups, in a virtual machine of its own.
import TestBench
import Testing

@Suite(
    "Lab", .serialized, .tags(.fullScale),
    .enabled(if: LabRun.hindrance == nil, Comment(rawValue: LabRun.hindrance ?? "")))
struct LabTests {
    @Test("in the lab", arguments: LabScenario.all)
    func holds(_ scenario: LabScenario) {
        guard let run = LabRun.of(scenario), let outcome = run.outcomes[scenario.name] else {
            let status = LabRun.of(scenario)?.status ?? -1
            Issue.record("it was not played: the guest ended with \(status); see out and console in \(LabRun.place)*")
            return
        }
        for figure in outcome.figures { print("lab: \(scenario.name): \(figure)") }
        for skip in outcome.skips { print("SKIPPED: the lab's \(scenario.name): \(skip)") }
        for debt in outcome.debts { withKnownIssue { Issue.record("not yet: \(debt)") } }
        for excuse in outcome.excuses { withKnownIssue { Issue.record("played again, because \(excuse)") } }
        for failure in outcome.failures {
            Issue.record("\(failure); see \(run.folder)/\(scenario.name)")
        }
        #expect(outcome.hasEnded, "the guest ended with \(run.status) in the midst of it; see \(run.folder)/out")
        #expect(!outcome.claims.isEmpty || !outcome.skips.isEmpty, "it claims nothing")
    }
}
