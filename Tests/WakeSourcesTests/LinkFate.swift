// What befalls the peripheral and the bluetoothd of a link world, as its dice decide.
import WakeModel

@testable import WakeSources

extension LinkWorld {
    func befall() {
        if dice.isOne(in: 2) { return mend() }
        switch dice.below(20) {
        case 0..<5: linkDown()
        case 5: linkDown(isUnseen: true)
        case 6: isInRange.toggle()
        case 7, 8: linkUp()
        case 9: if facts.isReachable { die() }
        case 10: togglePower()
        case 11: if dice.isOne(in: 2) { changeServices() } else { resolveAnew() }
        case 12: step(.session([.open, .paused, .closed][dice.below(3)]))
        case 13: step(.session(.open))
        case 14: step(.dropped(reason: "timeout", at: stamp.wall))
        case 15:
            if isLinkUp { step(.unencrypted(reason: "key-missing")) }
            linkDown()
        case 16: tell { $0.hasRoom.toggle() }
        default: if isInRange, !isLinkUp { step(.advertised) }
        }
        isTrusted = machine.session != .closed
    }

    private func togglePower() {
        switch facts.absence {
        case nil:
            isLinkUp = false
            link += 1
            tell {
                $0.isConnected = false
                $0.areServicesResolved = false
                $0.absence = .adapterDown
            }
        case .adapterDown:
            tell { $0.absence = nil }
            bringBack()
        case .bluetoothdGone, .removed: break
        }
    }

    private func changeServices() {
        guard isLinkUp, facts.isUp, facts.areServicesResolved else { return }
        changeObjects()
        onThisLink(after: dice.below(3000)) { [unowned self] in offer() }
    }

    private func changeObjects() {
        pathNumber += 1
        clients = []
        isConfigured = []
        tell { $0.channels = [:] }
    }

    /// On the same link.
    private func resolveAnew() {
        guard isLinkUp, facts.isUp, facts.areServicesResolved else { return }
        tell { $0.areServicesResolved = false }
        changeObjects()
        onThisLink(after: dice.below(3000)) { [unowned self] in
            offer()
            tell { $0.areServicesResolved = true }
        }
    }

    /// All faults end.
    func calm() {
        isCalm = true
        mend()
    }

    /// It is in range, powered, opened and trusted.
    private func mend() {
        isInRange = true
        isTrusted = true
        unblock()
        if !facts.hasRoom { tell { $0.hasRoom = true } }
        if facts.absence == .adapterDown { togglePower() }
        step(.session(.open))
        if !isLinkUp { bringBack() }
    }

    func dally() { run(for: .milliseconds(Int64(dice.isOne(in: 4) ? dice.below(20_000) : dice.below(2500)))) }
}
