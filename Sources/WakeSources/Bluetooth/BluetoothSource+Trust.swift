// The user's switch and bluetoothd's trust: one says what the other is to be, and whichever could not follow at once does it
// when the peripheral is known again.
import WakeModel

extension BluetoothSource {
    /// Of one that bluetoothd does not know now the trust is given, or taken, when it does again.
    public func set(_ session: LinkSession, of source: String) {
        guard let path = watched[source]?.path, sources[path] == source else {
            step(source, .session(session))
            return adoptAgain(source)
        }
        trust(source, at: path, session != .closed)
        // Asked after that: a peripheral that is trusted when it is disconnected is brought back by the kernel at once.
        if session == .closed { step(source, .session(session)) }
    }

    /// It was opened untrusted, and so it was not watched.
    private func adoptAgain(_ source: String) {
        for (path, peripheral) in client.mirror.peripherals where peripheral.source == source {
            adopt(peripheral, at: path)
            refresh(source)
        }
    }

    private func trust(_ source: String, at path: String, _ isTrusted: Bool) {
        trusting[source, default: 0] += 1
        let wasUntrusted = watched[source]?.isTrusted == false
        client.set("Trusted", of: path, BluezInterface.peripheral, to: .boolean(isTrusted)) { [weak self] result in
            guard let self else { return }
            if trusting[source] == 1 { trusting[source] = nil } else { trusting[source]? -= 1 }
            if case .failure(let error) = result {
                log.warning("could not have \(path) \(isTrusted ? "brought back" : "left") by itself: \(error)")
                if !isTrusted { watched[source]?.isTrusted = nil }
            }
            // Where it was switched again meanwhile, another answer follows.
            guard isTrusted, let host, host.session(of: source) != .closed else { return }
            if case .success = result, host.owesTrust(to: source) { host.bluetooth(isTrusted: source) }
            let wasClosed = watched[source]?.machine.session == .closed
            step(source, .session(host.session(of: source)))
            // One that is not trusted is watched only while it is closed, or to be opened.
            if wasClosed || wasUntrusted { step(source, .keptOff) }
        }
    }

    /// - Parameter wasTrusted: nil at first sight, and in each life of bluetoothd.
    func reconcile(_ source: String, at path: String, isTrusted: Bool, wasTrusted: Bool?) {
        guard trusting[source] == nil, let host else { return }
        if host.owesTrust(to: source) {
            guard isTrusted else { return trust(source, at: path, true) }
            host.bluetooth(isTrusted: source)
            step(source, .keptOff)
        } else if isTrusted, host.session(of: source) == .closed {
            switch wasTrusted {
            case .some(true): return
            case .some(false): openForTrust(source, host)
            // An earlier life was ended before it had taken it, bluetoothd was away, or refused.
            case nil: takeTrust(source, at: path)
            }
        }
    }

    private func takeTrust(_ source: String, at path: String) {
        let alias = watched[source]?.device.alias ?? source
        log.notice(
            "\(alias) is trusted, and its session is closed: its trust is taken; 'wakebridge session open \(alias)' gives it back"
        )
        trust(source, at: path, false)
        // It is what the kernel brings back, and nobody else.
        step(source, .stillTrusted)
    }

    /// Somebody paired it anew, or trusts it: that is to want it.
    private func openForTrust(_ source: String, _ host: any BluetoothHost) {
        log.notice("\(watched[source]?.device.alias ?? source) was trusted by somebody, so its session is open again")
        host.bluetooth(isTrusted: source)
        step(source, .session(host.session(of: source)))
        step(source, .keptOff)
    }
}
