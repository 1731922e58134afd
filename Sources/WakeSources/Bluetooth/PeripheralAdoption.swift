// Chooses which peripherals are watched, and their names; keeps their facts; makes trust and sessions follow each
// other.
import WakeLoop
import WakeModel
import WakeProfiles

extension BluetoothSource {
    /// To trust a peripheral is to want it watched. A private address that no bond resolves would be another tomorrow.
    func adopt(_ peripheral: BluezPeripheral, at path: String) {
        applyBondLoss(peripheral, at: path)
        let uri = peripheral.uri
        guard isAllowed(peripheral, at: path) else { return dismiss(path) }
        // With its pairing a peripheral may have given its identity.
        if let known = uris[path], known != uri { release(path) }
        let session = watched[uri]?.machine.session ?? host.session(of: uri)
        let isMeant = peripheral.isTrusted || session == .closed || host.awaitsTrust(uri)
        let isWanted = isMeant && (peripheral.isBonded || !peripheral.hasPrivateAddress)
        var offered = peripheral
        offered.services.formUnion(watched[uri]?.services ?? [])
        // Before the planner decides: a kept plan is for the object that has the link.
        guard !isBetterKnown(uri, than: peripheral, at: path) else { return }
        guard isWanted, !peripheral.address.isEmpty, let plan = planner.plan(for: offered) else {
            return peripheral.isTrusted ? release(path) : dismiss(path)
        }
        let wasTrusted = uris[path] == nil ? nil : watched[uri]?.isTrusted
        if let other = watched[uri]?.path, other != path { uris[other] = nil }
        uris[path] = uri
        let device = Device(
            uri: uri, alias: peripheral.deviceAlias(profile: plan.profile), profile: plan.profile,
            kind: .bluetoothCentral, isBonded: peripheral.isBonded)
        watch(device, at: path, plan, session)
        application.cover(peripheral.services)
        watched[uri]?.services = offered.services
        watched[uri]?.hasPublicAddress = peripheral.hasPublicAddress
        watched[uri]?.isTrusted = peripheral.isTrusted
        reconcile(uri, at: path, isTrusted: peripheral.isTrusted, wasTrusted: wasTrusted)
    }

    private func isAllowed(_ peripheral: BluezPeripheral, at path: String) -> Bool {
        let pins = planner.pins
        let names = pins.names(of: peripheral, profiles: host.profiles.heads.lazy.map(\.name))
        return pins.allow(client.mirror.adapters[path.parent]?.address, for: names)
    }

    private func introduce(_ device: Device, _ plan: BluetoothPlan) {
        host.introduce(device, by: ProfileIndex(rawValue: plan.edition))
    }

    private func watch(_ device: Device, at path: String, _ plan: BluetoothPlan, _ session: LinkSession) {
        let uri = device.uri
        needsWanted = needsWanted || plan.link.ask.needsWanted
        if watched[uri]?.device != device || watched[uri]?.plan.edition != plan.edition {
            introduce(device, plan)
        }
        guard let known = watched[uri] else {
            let heardUntil = host.listening(to: uri)?.time
            let isOfEarlierLife = released.remove(uri) == nil && heardUntil != nil
            let machine = LinkMachine(
                plan.link, session: session, heardUntil: heardUntil,
                isOurs: isOfEarlierLife && session != .closed && !isHeardElsewhere(path), patience: patience)
            watched[uri] = Entry(path: path, device: device, plan: plan, machine: machine)
            return setWanted(host.isWanted(uri), uri)
        }
        watched[uri]?.path = path
        watched[uri]?.device = device
        watched[uri]?.plan = plan
        guard known.machine.plan != plan.link else { return }
        step(uri, .plan(plan.link))
        setWanted(host.isWanted(uri), uri)
    }

    /// Another program listens to it: an earlier life's notifications ended with that life.
    private func isHeardElsewhere(_ path: String) -> Bool {
        client.mirror.characteristics(of: path).contains { $0.characteristic.isNotifying }
    }

    /// Two adapters may know one peripheral: it stays with the one that it was found on, unless the other has the link.
    private func isBetterKnown(_ uri: String, than peripheral: BluezPeripheral, at path: String) -> Bool {
        guard let known = watched[uri], known.path != path, uris[known.path] == uri,
            let other = client.mirror.peripherals[known.path]
        else { return false }
        return other.isConnected || !peripheral.isConnected
    }

    /// The host learns of it first, so that the event of the loss counts as one of a device without a bond.
    private func applyBondLoss(_ peripheral: BluezPeripheral, at path: String) {
        guard let uri = uris[path], var entry = watched[uri], entry.device.isBonded, !peripheral.isBonded
        else { return }
        entry.device.isBonded = false
        watched[uri]?.device = entry.device
        introduce(entry.device, entry.plan)
        step(uri, .bondLost)
    }

    /// It is not trusted any more. A link that the bridge made is disconnected, so that bluetoothd does not reconnect it.
    private func dismiss(_ path: String) {
        guard let uri = uris[path], let entry = watched[uri] else { return }
        release(path)
        guard entry.machine.isOurs, entry.machine.facts.isUp else { return }
        for (uuid, channel) in entry.machine.arming where channel.isAsked { ask(.stopNotify(uuid), of: uri, entry) }
        ask(.disconnect, of: uri, entry)
    }

    private func release(_ path: String) {
        guard let uri = uris.removeValue(forKey: path) else { return }
        refresh(uri)
        released.insert(uri)
        watched[uri] = nil
    }

    // MARK: Facts

    /// Passes its present facts to its machine.
    func refresh(_ uri: String) {
        guard let entry = watched[uri] else { return }
        step(uri, .facts(facts(of: entry)))
    }

    private func facts(of entry: Entry) -> LinkFacts {
        var facts = LinkFacts()
        let isKnown = uris[entry.path] == entry.device.uri
        let peripheral = isKnown ? client.mirror.peripherals[entry.path] : nil
        facts.absence = absence(client.mirror.adapters[entry.path.parent], isPresent: peripheral != nil)
        guard let peripheral else { return facts }
        facts.isConnected = peripheral.isConnected
        facts.connection = peripheral.connections
        facts.areServicesResolved = peripheral.areServicesResolved
        facts.isBlocked = peripheral.isBlocked
        facts.isLeftOver = isLeftOver(peripheral)
        facts.hasRoom = hasRoom(on: entry.path.parent)
        facts.offersTooMany = client.mirror.offersTooMany(entry.path)
        for name in entry.machine.plan.notify { facts.channels.merge(channels(name, of: entry)) { $1 } }
        return facts
    }

    /// All that have its UUID: two batteries have one each.
    private func channels(_ name: CharacteristicName, of entry: Entry) -> [CharacteristicName: LinkFacts.Channel] {
        let found = client.mirror.characteristics(of: entry.path, named: name.uuid) { $0.canNotify }
        let named = found.enumerated().map { place, one in
            let hasConfiguration = client.mirror.configuration(of: one.path) != nil
            return (
                CharacteristicName(name.uuid, number: UInt8(place + 1)),
                LinkFacts.Channel(
                    path: one.path, hasConfiguration: hasConfiguration, canRead: one.characteristic.canRead)
            )
        }
        return Dictionary(named) { first, _ in first }
    }

    /// Whether its link is older than this bluetoothd; nil where that is not known.
    private func isLeftOver(_ peripheral: BluezPeripheral) -> Bool? {
        guard peripheral.isConnected, let since = air?.upSince(peripheral.address), let lifeSince = life.since else {
            return nil
        }
        if since < lifeSince { return true }
        // Bluetoothd has its name, then takes links, then offers its objects: in between neither can be concluded.
        guard let knownSince = life.objectsKnownSince, since > knownSince else { return nil }
        return false
    }

    private func absence(_ adapter: BluezAdapter?, isPresent: Bool) -> LinkFacts.Absence? {
        guard client.isThere else { return .bluetoothdGone }
        guard let adapter, adapter.isPowered else { return .adapterDown }
        return isPresent ? nil : .removed
    }
}

// MARK: The operator's switch and bluetoothd's trust: each sets the other, now or when the peripheral is known again

extension BluetoothSource {
    /// A peripheral that bluetoothd does not know now is trusted, or not, when bluetoothd knows it again.
    public func setSession(_ session: LinkSession, of uri: String) {
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
        if !stalls.isEmpty { rearm() }
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
            // Where it was switched again meanwhile, another answer comes.
            guard isTrusted, host.session(of: uri) != .closed else { return }
            if case .success = result, host.awaitsTrust(uri) { host.settleSession(of: uri) }
            let wasClosed = watched[uri]?.machine.session == .closed
            step(uri, .session(host.session(of: uri)))
            // Untrusted, it is watched only while it is closed or about to be opened.
            if wasClosed || wasUntrusted { step(uri, .keptOff) }
        }
    }

    /// - Parameter wasTrusted: nil at first sight, and after each start of bluetoothd.
    func reconcile(_ uri: String, at path: String, isTrusted: Bool, wasTrusted: Bool?) {
        guard trusting[uri] == nil else { return }
        if host.awaitsTrust(uri) {
            guard isTrusted else { return trust(uri, at: path, true) }
            host.settleSession(of: uri)
            step(uri, .keptOff)
        } else if isTrusted, host.session(of: uri) == .closed {
            switch wasTrusted {
            case .some(true): return
            case .some(false): openForTrust(uri)
            // The bridge ended before it had withdrawn it, or bluetoothd was away or refused.
            case nil: withdrawTrust(uri, at: path)
            }
        }
    }

    private func withdrawTrust(_ uri: String, at path: String) {
        let alias = watched[uri]?.device.alias ?? uri
        log.notice(
            "\(alias) is trusted, and its session is closed: its trust is withdrawn; 'wakebridge session open \(alias)' restores it"
        )
        trust(uri, at: path, false)
        // A link that comes now is one that the kernel reconnected.
        step(uri, .stillTrusted)
    }

    /// It was paired again, or trusted by hand: both mean that it is wanted.
    private func openForTrust(_ uri: String) {
        log.notice("\(watched[uri]?.device.alias ?? uri) was trusted by hand, so its session is open again")
        host.settleSession(of: uri)
        step(uri, .session(host.session(of: uri)))
        step(uri, .keptOff)
    }
}
