// Resolves a handler's name where its manifest runs once for each device: that instance, or all of them.
import WakeControl
import WakeCore
import WakeEngine
import WakeModel

extension ControlAnswers {
    /// The handlers that a name means, each as `find` finds it. Of several instances those that `find` refuses are left out; where
    /// it refuses all of them, that is the answer.
    /// - Parameter mayBeNone: a manifest without an instance is no mistake.
    func those(
        meantBy name: String, mayBeNone: Bool = false, _ find: (String) throws(ControlRefusal) -> HandlerID
    ) throws(ControlRefusal) -> [HandlerID] {
        guard bridge.catalog.handler(named: name) == nil, let instances = bridge.catalog.instances(of: name) else {
            return [try find(name)]
        }
        if instances.isEmpty, !mayBeNone { throw noInstance(of: name) }
        var found: [HandlerID] = []
        var refusal: ControlRefusal?
        for instance in instances {
            do throws(ControlRefusal) { found.append(try find(bridge.catalog.name(of: instance))) } catch {
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
        let names = instances.map { bridge.catalog.name(of: $0) }
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

    func simulate(_ verb: OperatorVerb, on name: String) throws(ControlRefusal) -> ControlResponse {
        for handler in try those(meantBy: name, { name throws(ControlRefusal) in try target(of: verb, name) }) {
            _ = operate(handler, verb)
        }
        return .done
    }

    private func target(of verb: OperatorVerb, _ name: String) throws(ControlRefusal) -> HandlerID {
        switch verb {
        case .expire: return try handler(name, in: [.active], "has no deadline to bring forward")
        case .kill: return try handler(name, in: Self.living, "has no process to kill")
        case .wake:
            try refuseGated(name)
            return try runnable(name)
        case .start, .stop, .attach, .detach, .restart: return try handler(name)
        }
    }
}
