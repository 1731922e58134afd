// Orders for accessories: a name, which of several a device is, or that it be forgotten.
import WakeControl
import WakeEngine
import WakeModel
import WakeSources
import WakeSystem

extension Endpoint {
    static let accessories: [Endpoint] = [
        Endpoint(
            .post("/v1/devices/name", .pair), "names an accessory, or a device that broadcasts",
            body: [.always("device", .name), .perhaps("name", .name), .perhaps("as", .name)], .json(.named(.device)),
            reads: { asked throws(ControlRefusal) in try AccessoryOrder(asked.body) },
            answers: { api, _, order throws(ControlRefusal) in try api.accessories.name(order) }),
        Endpoint(
            .post("/v1/devices/forget", .pair), "forgets an accessory, or a device that broadcasts",
            body: [.always("device", .name)], .json(.named(.forgotten)),
            reads: { asked throws(ControlRefusal) in try asked.body.require("device") },
            answers: { api, _, device throws(ControlRefusal) in try api.accessories.forget(device) }),
    ]
}

struct AccessoryAnswers {
    let devices: KnownDevices
    var sources: LiveSources { devices.sources }
    var catalog: Catalog { devices.catalog }

    // MARK: Orders

    func name(_ order: AccessoryOrder) throws(ControlRefusal) -> ControlResponse {
        if let answer = try nameBroadcaster(order) { return answer }
        if let answer = try namePeripheral(order) { return answer }
        let accessories = try accessories(for: order.device, isNamed: true)
        var uri = try intended(order, accessories)
        if let name = order.name { try requireFree(name, besides: uri) }
        if order.identity != nil { uri = try settle(order.device, as: uri, accessories) }
        guard let uri else { throw .doubtful(order.device, []) }
        if let name = order.name { accessories.rename(uri, to: name) }
        accessories.writeRegistry()
        guard let entry = catalog.entry(of: uri) else { return .done }
        return .json(devices.report(entry))
    }

    func forget(_ word: String) throws(ControlRefusal) -> ControlResponse {
        if let answer = try forgetBroadcaster(word) { return answer }
        if let answer = forgetPeripheral(word) { return answer }
        let accessories = try accessories(for: word)
        guard let uri = try known(word, accessories) else { throw .doubtful(word, candidates(word, accessories)) }
        let label = accessories.label(of: uri)
        let node = accessories.node(of: uri)
        do throws(SystemError) {
            try sources.sessions.settle(uri)
        } catch {
            throw ControlRefusal(
                .failed, code: "failed", message: "'\(word)' could not be forgotten: \(error.description)",
                advice: "fix the state directory and try again")
        }
        _ = accessories.forget(uri)
        accessories.writeRegistry()
        return .object { writer in
            writer.field("alias", label)
            writer.field("source", uri)
            writer.field("node", node)
        }
    }

    // MARK: Which device is meant

    /// - Parameter isNamed: whether it is to get a name, rather than to be forgotten.
    private func accessories(for word: String, isNamed: Bool = false) throws(ControlRefusal) -> AccessorySource {
        if case .one(let entry) = catalog.device(named: word, by: .whole),
            Device.bluetoothAddress(in: entry.device.uri) != nil
        {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "'\(word)' is a Bluetooth device, which bluetoothd keeps",
                advice: "name or forget it with: wakebridge pair, wakebridge forget, bluetoothctl")
        }
        if let address = Self.bluetoothAddress(in: word) { throw unknownPeripheral(word, address, isNamed: isNamed) }
        if let accessories = sources.accessories { return accessories }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "no accessory can be named or forgotten here",
            advice: "the daemon watches no accessories, or plays a trace in their place")
    }

    /// The address that a word is, as it was printed or with its URI; nil for other words.
    private static func bluetoothAddress(in word: String) -> RadioAddress? {
        RadioAddress(Device.bluetoothAddress(in: word) ?? word)
    }

    private func unknownPeripheral(_ word: String, _ address: RadioAddress, isNamed: Bool) -> ControlRefusal {
        guard sources.bluetooth != nil else {
            return ControlRefusal(
                .conflict, code: "conflict",
                message: "'\(word)' is a Bluetooth device, and this daemon watches no Bluetooth",
                advice: "start it without --no-bluetooth and without a trace, and try again")
        }
        return ControlRefusal(
            .notFound, code: "unknown-device",
            message: "'\(word)' is a Bluetooth address, and no device of it is known",
            advice: isNamed
                ? "pair it with: wakebridge pair \(address); if it only broadcasts, name it with: "
                    + "wakebridge add \(address)=NAME"
                : "see which devices are known with: wakebridge devices")
    }

    /// The device that the order identifies; nil for a new one.
    private func intended(_ order: AccessoryOrder, _ source: AccessorySource) throws(ControlRefusal) -> String? {
        switch order.identity {
        case .new: return nil
        case .known(let word):
            if let known = source.uri(named: word) { return known }
            throw unknown(word, source)
        case nil:
            if let known = try known(order.device, source) { return known }
            throw .doubtful(order.device, candidates(order.device, source))
        }
    }

    /// Nil where it is attached, and in doubt.
    private func known(_ word: String, _ source: AccessorySource) throws(ControlRefusal) -> String? {
        if let known = source.uri(at: word) ?? source.uri(named: word) { return known }
        guard let record = source.record(at: word) else { throw unknown(word, source) }
        if source.doubts[record.path] != nil { return nil }
        throw source.spareNodes.first { $0.record.path == record.path }.map { .spare(word, $0.reason(in: source)) }
            ?? .unprofiled(word)
    }

    private func candidates(_ word: String, _ source: AccessorySource) -> [String] {
        source.record(at: word).flatMap { source.doubts[$0.path] }?.candidates.map { source.label(of: $0) } ?? []
    }

    private func settle(
        _ word: String, as wanted: String?, _ source: AccessorySource
    ) throws(ControlRefusal) -> String? {
        var here = source.record(at: word)?.path
        if here == nil { here = try known(word, source).flatMap { source.place(of: $0) } }
        guard let here else {
            throw ControlRefusal(
                .conflict, code: "conflict",
                message: "'\(word)' is not attached, so nothing can be said of which it is",
                advice: "plug it in, and name it by its node: wakebridge scan")
        }
        if wanted != nil, source.place(of: wanted ?? "") == here { return wanted }
        guard source.isPlanned(at: here) else { throw .unprofiled(word) }
        if let spare = source.spareNodes.first(where: { $0.record.path == here }) {
            throw .spare(word, spare.reason(in: source))
        }
        return source.resolve(here, as: wanted)
    }

    func requireFree(_ name: String, besides source: String?) throws(ControlRefusal) {
        // Commands accept names and addresses: this one would be taken for the other device.
        guard RadioAddress(name) == nil else {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "'\(name)' is a Bluetooth address, so it cannot be a name",
                advice: "choose a name such as 'cellar'")
        }
        let taken = devices.all().first {
            $0.device.uri != source && [$0.device.alias, $0.device.uri].contains(name)
        }
        let owner = taken?.device.uri ?? sources.accessories?.uri(named: name)
        guard let owner, owner != source else { return }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "the name '\(name)' belongs to \(owner) already",
            advice: "choose another, or forget that one first")
    }

    private func unknown(_ word: String, _ source: AccessorySource) -> ControlRefusal {
        let known = devices.all().map(\.device).filter { $0.kind == .externalAccessory }.map(\.alias)
        return ControlRefusal(
            .notFound, code: "unknown-device", message: "there is no accessory '\(word)'",
            advice: "see which there are with: wakebridge scan --all, wakebridge devices."
                + suggestion(for: word, among: known))
    }
}

extension SpareNode {
    func reason(in source: AccessorySource) -> String {
        let opened = source.node(of: self.uri).map { ", of which \($0) is opened" } ?? ""
        return "is left alone: it belongs to '\(source.label(of: self.uri))' too\(opened)"
    }

    static var advice: String {
        "have a profile's 'match' name what tells them apart"
    }
}

extension ControlRefusal {
    fileprivate static func spare(_ word: String, _ reason: String) -> ControlRefusal {
        ControlRefusal(
            .conflict, code: "conflict", message: "'\(word)' \(reason)", advice: SpareNode.advice)
    }

    fileprivate static func doubtful(_ word: String, _ candidates: [String]) -> ControlRefusal {
        let names = candidates.map { "'\($0)'" }.joined(separator: " or ")
        return ControlRefusal(
            .conflict, code: "conflict", message: "'\(word)' may be \(names), or another of its kind",
            advice: "say which with: wakebridge pair \(word) --as DEVICE, or --as new")
    }

    fileprivate static func unprofiled(_ word: String) -> ControlRefusal {
        ControlRefusal(
            .conflict, code: "conflict", message: "no profile knows '\(word)', so the bridge does not watch it",
            advice: "write a profile for it (docs/how-to/add-a-device-profile.md); "
                + "'wakebridge scan --all --json' tells its properties")
    }
}
