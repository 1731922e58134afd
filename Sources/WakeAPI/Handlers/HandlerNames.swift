// Which handlers a name means: one, or all instances of a manifest that runs once for each device.
import WakeControl
import WakeCore
import WakeEngine
import WakeModel

struct HandlerNames {
    let catalog: Catalog
    let turn: Turn
    let executor: ProcessExecutor
    unowned let findings: any ManifestFindings

    func handler(_ name: String) throws(ControlRefusal) -> HandlerID {
        if let id = catalog.handler(named: name) { return id }
        if let instances = catalog.instances(of: name) { return try only(instances, of: name) }
        if let refusal = refusal(ofAbsent: name) {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "handler '\(name)' is not there: \(refusal.what)",
                advice: refusal.advice)
        }
        let known = catalog.handlers.values.map(\.name) + catalog.perDevice.keys
        throw ControlRefusal(
            .notFound, code: "unknown-handler", message: "there is no handler '\(name)'",
            advice: "see which there are with: wakebridge handlers.\(suggestion(for: name, among: known))")
    }

    /// The refusal of a manifest that gives no handler; nil for all other names.
    func refusal(ofAbsent name: String) -> BridgeWarning? {
        catalog.isConfigured(name) ? nil : findings.refusals.first { $0.handler == name }
    }

    static let living: Set<HandlerState> = [
        .launching, .active, .expiring, .suspending, .suspended, .terminating,
    ]

    /// A handler that a start lets run: what its manifest has disabled no operator can.
    func startable(_ name: String) throws(ControlRefusal) -> HandlerID {
        let id = try handler(name)
        guard let manifest = catalog.handlers[id], !manifest.settings.isEnabled else { return id }
        throw disabled(name, manifest, "started")
    }

    private func disabled(_ name: String, _ manifest: HandlerManifest, _ verb: String) -> ControlRefusal {
        ControlRefusal(
            .conflict, code: "conflict", message: "handler '\(name)' is disabled by its manifest and cannot be \(verb)",
            advice: "take 'enabled: false' out of \(manifest.file)")
    }

    /// A handler that may run: an order to wake one that may not would be taken and do nothing.
    func runnable(_ name: String) throws(ControlRefusal) -> HandlerID {
        let standing = try handlerStatus(name)
        guard standing.state == .stopped || standing.state == .quarantined else { return standing.handler }
        if let manifest = catalog.handlers[standing.handler], !manifest.settings.isEnabled {
            throw disabled(name, manifest, "woken")
        }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "handler '\(name)' is \(standing.state.rawValue) and cannot be woken",
            advice: "let it run again with: wakebridge start \(name)")
    }

    func handler(
        _ name: String, in states: Set<HandlerState>, _ complaint: String
    ) throws(ControlRefusal) -> HandlerID {
        let standing = try handlerStatus(name)
        // A penalty can cover a frozen process, which still exists.
        let isFrozen = standing.state == .held && executor.pid(of: standing.handler) != nil
        guard !states.contains(isFrozen ? .suspended : standing.state) else { return standing.handler }
        throw ControlRefusal(
            .conflict, code: "conflict", message: "handler '\(name)' is \(standing.state.rawValue) and \(complaint)",
            advice: "see how it stands with: wakebridge why \(name)")
    }

    func handlerStatus(_ name: String) throws(ControlRefusal) -> HandlerStatus {
        let id = try handler(name)
        if let standing = turn.handlerStatus(of: id) { return standing }
        throw ControlRefusal(
            .notFound, code: "unknown-handler", message: "handler '\(name)' is not configured yet", advice: "try again")
    }

    /// The handlers that a name means, each as `find` finds it. Of several instances those that `find` refuses are left out; where
    /// it refuses all of them, that is the answer.
    /// - Parameter mayBeNone: a manifest without an instance is no mistake.
    func those(
        meantBy name: String, mayBeNone: Bool = false, _ find: (String) throws(ControlRefusal) -> HandlerID
    ) throws(ControlRefusal) -> [HandlerID] {
        guard catalog.handler(named: name) == nil, let instances = catalog.instances(of: name) else {
            return [try find(name)]
        }
        if instances.isEmpty, !mayBeNone { throw noInstance(of: name) }
        var found: [HandlerID] = []
        var refusal: ControlRefusal?
        for instance in instances {
            do throws(ControlRefusal) { found.append(try find(catalog.name(of: instance))) } catch {
                refusal = refusal ?? error
            }
        }
        if found.isEmpty, let refusal { throw refusal }
        return found
    }

    /// The one instance, for what can be done to one handler alone.
    func only(_ instances: [HandlerID], of name: String) throws(ControlRefusal) -> HandlerID {
        if instances.count == 1 { return instances[0] }
        if instances.isEmpty { throw noInstance(of: name) }
        let names = instances.map { catalog.name(of: $0) }
        throw ControlRefusal(
            .conflict, code: "ambiguous-handler", message: "handler '\(name)' has an instance for each of its devices",
            advice: "say which: \(names.joined(separator: ", "))")
    }

    func noInstance(of name: String) -> ControlRefusal {
        ControlRefusal(
            .conflict, code: "no-instance",
            message: "handler '\(name)' has no instance, because no device that it watches is known",
            advice: "see which devices are known with: wakebridge devices")
    }
}
