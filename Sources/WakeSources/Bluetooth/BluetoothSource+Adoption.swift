// Which peripherals are watched, under which name, and what is true of each now.
import WakeLoop
import WakeModel

extension BluetoothSource {
    /// To trust a peripheral is to want it watched. A private address that no bond resolves would be another tomorrow.
    func adopt(_ peripheral: BluezPeripheral, at path: String) {
        noteBond(peripheral, at: path)
        let uri = peripheral.uri
        // With its pairing a peripheral may have told who it is.
        if let known = uris[path], known != uri { release(path) }
        let session = watched[uri]?.machine.session ?? host?.session(of: uri) ?? .open
        let isMeant = peripheral.isTrusted || session == .closed || host?.owesTrust(to: uri) == true
        let isWanted = isMeant && (peripheral.isBonded || !peripheral.hasPrivateAddress)
        var offered = peripheral
        offered.services.formUnion(watched[uri]?.services ?? [])
        // Before the host is asked: what it goes on with while it is connected is for the object that has the link.
        guard !isBetterKnown(uri, than: peripheral, at: path) else { return }
        guard isWanted, !peripheral.address.isEmpty, let plan = host?.plan(for: offered) else {
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

    private func watch(_ device: Device, at path: String, _ plan: BluetoothPlan, _ session: LinkSession) {
        let uri = device.uri
        if watched[uri]?.device != device || watched[uri]?.plan.edition != plan.edition {
            host?.bluetooth(knows: device, by: plan)
        }
        guard let known = watched[uri] else {
            let heardUntil = host?.listening(to: uri)?.time
            let isOfEarlierLife = released.remove(uri) == nil && heardUntil != nil
            let machine = LinkMachine(
                plan.link, session: session, heardUntil: heardUntil,
                isOurs: isOfEarlierLife && session != .closed && !isHeardElsewhere(path), patience: patience)
            watched[uri] = Watched(path: path, device: device, plan: plan, machine: machine)
            return
        }
        watched[uri]?.path = path
        watched[uri]?.device = device
        watched[uri]?.plan = plan
        if known.machine.plan != plan.link { step(uri, .plan(plan.link)) }
    }

    /// What is asked of those that are connected, by URI.
    public var plansInUse: [String: BluetoothPlan] {
        watched.filter { client.mirror.peripherals[$0.value.path]?.isConnected == true }.mapValues(\.plan)
    }

    /// The host's profiles have changed, and it is asked anew of every peripheral; `services` are those that they know now.
    public func reconsider(serving services: [BluetoothUUID]) {
        application.add(services)
        for (path, peripheral) in client.mirror.peripherals.sorted(by: { $0.key < $1.key }) {
            adopt(peripheral, at: path)
            if let uri = uris[path] { refresh(uri) }
        }
    }

    /// Another program listens to it: what an earlier life of the bridge had switched on went off with that life.
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

    /// The host hears of it first: what the loss itself causes is said of a device that is not bonded.
    private func noteBond(_ peripheral: BluezPeripheral, at path: String) {
        guard let uri = uris[path], var entry = watched[uri], entry.device.isBonded, !peripheral.isBonded
        else { return }
        entry.device.isBonded = false
        watched[uri]?.device = entry.device
        host?.bluetooth(knows: entry.device, by: entry.plan)
        step(uri, .bondLost)
    }

    /// It is not trusted any more: a link that is ours goes, which has bluetoothd bring it back no more.
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

    /// Tells its machine what is true of it now.
    func refresh(_ uri: String) {
        guard let entry = watched[uri] else { return }
        step(uri, .facts(facts(of: entry)))
    }

    private func facts(of entry: Watched) -> LinkFacts {
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
        for (path, characteristic) in client.mirror.characteristics(of: entry.path) {
            guard entry.machine.plan.notify.contains(characteristic.uuid), characteristic.canNotify,
                facts.channels[characteristic.uuid] == nil
            else { continue }
            let hasConfiguration = client.mirror.configuration(of: path) != nil
            facts.channels[characteristic.uuid] = .init(
                path: path, hasConfiguration: hasConfiguration, canRead: characteristic.canRead)
        }
        return facts
    }

    /// Whether its link is older than this bluetoothd; nil where nobody heard it come.
    private func isLeftOver(_ peripheral: BluezPeripheral) -> Bool? {
        guard peripheral.isConnected, let since = air?.upSince(peripheral.address), let ownerSince else { return nil }
        if since < ownerSince { return true }
        // It has its name before it takes links, and tells of its objects after that: in between nobody knows.
        guard let toldSince, since > toldSince else { return nil }
        return false
    }

    private func absence(_ adapter: BluezAdapter?, isPresent: Bool) -> LinkFacts.Absence? {
        guard client.isThere else { return .bluetoothdGone }
        guard let adapter, adapter.isPowered else { return .adapterDown }
        return isPresent ? nil : .removed
    }
}
