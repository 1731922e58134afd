// What setting up does with what the doctor finds: one command after another, then what is in the way.
import Testing

@testable import WakeDoctor

@Suite("The plan of setting up") struct SetupPlanTests {
    @Test("a machine on which nothing is wrong is ready")
    func ready() { #expect(SetupPlan().step(after: Findings(wellFacts())) == .ready) }

    @Test("what a command can fix is fixed by root without sudo, and a command that did not help is not run twice")
    func fixesOnce() {
        var facts = wellFacts()
        facts.radio = .blockedBySoftware
        facts.withAdapter { $0.isPowered = false }
        var plan = SetupPlan()
        guard case .fix(let finding, let command) = plan.step(after: Findings(facts)) else {
            return #expect(Bool(false), "nothing is fixed")
        }
        #expect(finding.code == .blockedBySoftware && command == "rfkill unblock bluetooth")
        plan.markTried(finding.code)
        #expect(plan.step(after: Findings(facts)) == .blocked(finding))
    }

    @Test("a missing bluetoothd is installed without a question of apt's")
    func installs() {
        var facts = wellFacts()
        facts.hasBluetoothd = false
        facts.bluetoothUnit = .absent
        facts.bus = .reached(.notRunning)
        guard case .fix(_, let command) = SetupPlan().step(after: Findings(facts)) else {
            return #expect(Bool(false), "nothing is fixed")
        }
        #expect(command == "DEBIAN_FRONTEND=noninteractive apt-get install --yes bluez")
    }

    @Test("without a service manager the daemon is yours to start, and its absence is in the way")
    func foreground() {
        var facts = wellFacts()
        facts.hasSystemd = false
        facts.bridge = .absent(socket: "/run/wakebridge/control.sock")
        guard case .blocked(let finding) = SetupPlan().step(after: Findings(facts)) else {
            return #expect(Bool(false), "nothing is in the way")
        }
        #expect(
            finding.code == .bridgeAbsent
                && finding.remedy == .act("start 'sudo wakebridged' in another terminal, where it runs until Ctrl-C"))
    }

    @Test("a missing adapter is in the way, and a handler in quarantine is not")
    func blocked() {
        var facts = wellFacts()
        facts.withBridge { $0.handlers = [.init("hr", "quarantined", "crashed")] }
        #expect(SetupPlan().step(after: Findings(facts)) == .ready)
        facts.kernel.controllers = [:]
        facts.bus = .reached(.running(BluezFacts([])))
        guard case .blocked(let finding) = SetupPlan().step(after: Findings(facts)) else {
            return #expect(Bool(false), "nothing is in the way")
        }
        #expect(finding.code == .adapterAbsent)
    }
}
