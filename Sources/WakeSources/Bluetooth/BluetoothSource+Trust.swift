// The user's switch and bluetoothd's trust: one says what the other is to be, and whichever could not follow at once does it
// when the peripheral is known again.
import WakeModel

extension BluetoothSource {
    /// Of one that bluetoothd does not know now the trust is given, or taken, when it does again.
    public func set(_ session: LinkSession, of uri: String) {
        guard let path = watched[uri]?.path, uris[path] == uri else {
            step(uri, .session(session))
            return adoptAgain(uri)
        }
        trust(uri, at: path, session != .closed)
        // Asked after that: a peripheral that is trusted when it is disconnected is brought back by the kernel at once.
        if session == .closed { step(uri, .session(session)) }
    }

    /// It was opened untrusted, and so it was not watched.
    private func adoptAgain(_ uri: String) {
        for (path, peripheral) in client.mirror.peripherals where peripheral.uri == uri {
            adopt(peripheral, at: path)
            refresh(uri)
        }
    }

    private func trust(_ uri: String, at path: String, _ isTrusted: Bool) {
        trusting[uri, default: 0] += 1
        let wasUntrusted = watched[uri]?.isTrusted == false
        client.set("Trusted", of: path, BluezInterface.peripheral, to: .boolean(isTrusted)) { [weak self] result in
            guard let self else { return }
            if trusting[uri] == 1 { trusting[uri] = nil } else { trusting[uri]? -= 1 }
            if case .failure(let error) = result {
                log.warning("could not have \(path) \(isTrusted ? "brought back" : "left") by itself: \(error)")
                if !isTrusted { watched[uri]?.isTrusted = nil }
            }
            // Where it was switched again meanwhile, another answer follows.
            guard isTrusted, let host, host.session(of: uri) != .closed else { return }
            if case .success = result, host.owesTrust(to: uri) { host.bluetooth(isTrusted: uri) }
            let wasClosed = watched[uri]?.machine.session == .closed
            step(uri, .session(host.session(of: uri)))
            // One that is not trusted is watched only while it is closed, or to be opened.
            if wasClosed || wasUntrusted { step(uri, .keptOff) }
        }
    }

    /// - Parameter wasTrusted: nil at first sight, and in each life of bluetoothd.
    func reconcile(_ uri: String, at path: String, isTrusted: Bool, wasTrusted: Bool?) {
        guard trusting[uri] == nil, let host else { return }
        if host.owesTrust(to: uri) {
            guard isTrusted else { return trust(uri, at: path, true) }
            host.bluetooth(isTrusted: uri)
            step(uri, .keptOff)
        } else if isTrusted, host.session(of: uri) == .closed {
            switch wasTrusted {
            case .some(true): return
            case .some(false): openForTrust(uri, host)
            // An earlier life was ended before it had taken it, bluetoothd was away, or refused.
            case nil: takeTrust(uri, at: path)
            }
        }
    }

    private func takeTrust(_ uri: String, at path: String) {
        let alias = watched[uri]?.device.alias ?? uri
        log.notice(
            "\(alias) is trusted, and its session is closed: its trust is taken; 'wakebridge session open \(alias)' gives it back"
        )
        trust(uri, at: path, false)
        // It is what the kernel brings back, and nobody else.
        step(uri, .stillTrusted)
    }

    /// Somebody paired it anew, or trusts it: that is to want it.
    private func openForTrust(_ uri: String, _ host: any BluetoothHost) {
        log.notice("\(watched[uri]?.device.alias ?? uri) was trusted by somebody, so its session is open again")
        host.bluetooth(isTrusted: uri)
        step(uri, .session(host.session(of: uri)))
        step(uri, .keptOff)
    }
}
