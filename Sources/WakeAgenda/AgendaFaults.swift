// Faults of orders that are well written and cannot be carried out, each with what to write instead.
import WakeModel

extension ProtocolFault {
    /// - Parameter example: what the manifest lacks.
    static func notInManifest(_ verb: String, key: String, example: String) -> ProtocolFault {
        ProtocolFault(
            .notPermitted, "\(verb): this handler's manifest has no \"\(key)\".",
            advice: "Write \(example) in the manifest.")
    }

    /// - Parameter kind: nil where no kind has the verb.
    static func notCarriedOut(_ verb: HandlerOrder.Verb, _ kind: TriggerKind?) -> ProtocolFault {
        ProtocolFault(
            .notPermitted, "\(verb.rawValue): the bridge cannot do this\(kind.map { " for \($0.nouns)" } ?? "").",
            advice: "Leave it out.")
    }

    static func notDeclared(job: String, verb: String, known: [String]) -> ProtocolFault {
        let advice =
            known.isEmpty
            ? "Write {\"id\":\"\(job)\",\"kind\":\"processing\"} into \"jobs\" of the manifest."
            : "Declare it in \"jobs\" of the manifest, or name \(known.prefix(8).map { "\"\($0)\"" }.listed)."
        return ProtocolFault(
            .notRegistered,
            "\(verb) \"\(job)\": this handler's manifest declares no such job\(nearest(to: job, in: known)).",
            advice: advice)
    }

    /// - Parameter known: the names that the manifest declares of this kind.
    static func notDeclared(_ name: String, _ verb: String, _ kind: TriggerKind, known: [String]) -> ProtocolFault {
        ProtocolFault(
            .notRegistered,
            "\(verb) \"\(name)\": this handler's manifest declares no such \(kind.word)\(nearest(to: name, in: known)).",
            advice: "Write one of \(known.listed), or declare it in \"\(kind.manifestKey)\" of the manifest.")
    }

    static func tooManyJobs(_ rule: JobRule) -> ProtocolFault {
        let limit = rule.kind.mostPending.counted("\(rule.kind.rawValue) job")
        return ProtocolFault(
            .tooMany, "submit \"\(rule.id)\": \(limit) of this handler may be pending, and so it is.",
            advice: "Cancel one, or wait until one has run.")
    }

    static func jobUndeclared(_ id: String) -> ProtocolFault {
        ProtocolFault(
            .notRegistered, "The job \"\(id)\" is cancelled: the manifest declares it no more.",
            advice: "Declare it in \"jobs\" of the manifest again, and submit it.")
    }
}
