// Findings about the bridge: whether it runs, how well it can do its work, and which handlers are not woken.
import WakeModel

extension Facts {
    var ofBridge: [Finding] {
        let why = "No handler is woken, and what devices say is not kept."
        switch bridge {
        case .absent(let socket):
            let what = "wakebridged is not running: there is no \(socket)"
            return [Finding(.fault, .bridgeAbsent, what, why, .run(startBridge))] + ofMissingCgroups
        case .dead(let socket):
            let what = "wakebridged has crashed: no process listens at \(socket)"
            return [Finding(.fault, .bridgeDead, what, why, .run(startBridge))] + ofMissingCgroups
        case .denied(let socket):
            return [
                Finding(
                    .fault, .bridgeDenied, "this user may not speak to wakebridged at \(socket)",
                    "It lets in its own user, root, and the group that wakebridge.json5 names.",
                    .run("sudo wakebridge doctor"))
            ]
        case .silent(let socket):
            return [
                Finding(
                    .fault, .bridgeSilent, "wakebridged at \(socket) does not answer",
                    "Whether handlers are woken cannot be told; the last lines of its log say what holds it up.",
                    restartBridge)
            ]
        case .refused(let sentence):
            return [Finding(.fault, .bridgeRefused, sentence, why, .run("sudo wakebridge doctor"))]
        case .running(let bridge):
            return of(bridge) + ofSuspension(bridge) + bridge.handlers.flatMap(Self.of) + bridge.warnings.map(Self.of)
                + bridge.sessions.map(Self.of)
        }
    }

    private var restartBridge: Finding.Remedy {
        isBridgeOfSystem
            ? .run("sudo systemctl restart wakebridged") : .act("end it, and start it again with 'wakebridged'")
    }

    private var startBridge: String {
        guard hasSystemd, isBridgeOfSystem else { return "wakebridged" }
        switch bridgeUnit {
        case .absent: return "wakebridged"
        case .masked: return "sudo systemctl unmask wakebridged && sudo systemctl enable --now wakebridged"
        case .disabled: return "sudo systemctl enable --now wakebridged"
        case .enabled: return "sudo systemctl restart wakebridged"
        }
    }

    private func of(_ bridge: BridgeFacts) -> [Finding] {
        var found: [Finding] = []
        if bridge.journalHealth != "ok" {
            found.append(
                Finding(
                    .fault, .journalDegraded, "the journal is degraded: \(bridge.journalHealth)",
                    "What is not acknowledged when the bridge ends may be lost.",
                    .act(
                        "make room on the disk or repair it, then \(isBridgeOfSystem ? "'sudo systemctl restart wakebridged'" : "start it again")"
                    )))
        }
        if bridge.version != toolVersion {
            found.append(
                Finding(
                    .note, .bridgeVersion,
                    "wakebridged \(bridge.version) runs, and this tool is of \(toolVersion)",
                    "What was installed is taken up with the daemon's next start.", restartBridge))
        }
        return found + ofCapabilities(bridge) + ofDeadLetters(bridge)
    }

    private func ofCapabilities(_ bridge: BridgeFacts) -> [Finding] {
        guard let lacking = bridge.lackingCapabilities, !lacking.isEmpty else { return [] }
        let names = lacking.joined(separator: " ")
        return [
            Finding(
                .note, .capabilities, "wakebridged runs without \(names)",
                "CAP_NET_RAW tells it why links end, CAP_NET_ADMIN lets it end links that no other program ends.",
                .act("run it as the system's service, or add AmbientCapabilities=\(names) to its unit"))
        ]
    }

    private func ofDeadLetters(_ bridge: BridgeFacts) -> [Finding] {
        guard bridge.deadLetters > 0 else { return [] }
        let events = bridge.deadLetters.counted("event") + (bridge.deadLetters == 1 ? " was" : " were")
        return [
            Finding(
                .note, .deadLetters, "\(events) put aside as dead letters",
                "No attempt could deliver them; they wait to be replayed or dropped.",
                .run("wakebridge dead-letters list"))
        ]
    }

    // MARK: Suspension

    private func ofSuspension(_ bridge: BridgeFacts) -> [Finding] {
        guard bridge.suspendsWeakly else {
            return [Finding(.ok, .bridge, "wakebridged \(bridge.version) runs, and freezes handlers by cgroup")]
        }
        return [Finding(.ok, .bridge, "wakebridged \(bridge.version) runs"), weakSuspension]
    }

    /// How the daemon will suspend handlers once it runs.
    private var ofMissingCgroups: [Finding] { kernel.hasCgroups && kernel.isRecent ? [] : [weakSuspension] }

    private var weakSuspension: Finding {
        Finding(
            .warning, .weakSuspension, "handlers are suspended by SIGSTOP, for want of a cgroup",
            "Their children can escape it, and a process that waits for them is told that they stopped.", cgroupRemedy)
    }

    private var cgroupRemedy: Finding.Remedy {
        if !kernel.isRecent { return .act("use Linux 5.14 or newer") }
        if !kernel.hasCgroups {
            return .act("boot with 'systemd.unified_cgroup_hierarchy=1', or mount cgroup2 at /sys/fs/cgroup")
        }
        if !hasSystemd { return .act("run wakebridged as root, with a cgroup that it may write to") }
        return bridgeUnit == .absent
            ? .run("systemd-run --user --scope -p Delegate=yes wakebridged")
            : .act("run it as the service, whose unit says Delegate=yes: 'sudo systemctl start wakebridged'")
    }

    // MARK: Handlers and sessions

    private static func of(_ handler: BridgeFacts.Handler) -> [Finding] {
        let start = Finding.Remedy.run("wakebridge start \(handler.id.asShellWord)")
        switch handler.state {
        case "quarantined":
            let why = "It \(handler.why). 'wakebridge logs' has what it said."
            return [Finding(.fault, .handlerQuarantined, "handler \(handler.id) is quarantined", why, start)]
        case "held":
            let why = "It is \(handler.why)."
            return [Finding(.warning, .handlerHeld, "handler \(handler.id) is held back", why, start)]
        case "stopped":
            let remedy = handler.why.hasPrefix("disabled") ? Finding.Remedy.act("change its manifest") : start
            let why = "It is \(handler.why)."
            return [Finding(.note, .handlerStopped, "handler \(handler.id) is stopped", why, remedy)]
        default: return handler.unbonded.map { ofUnbonded($0, handler.id) }
        }
    }

    private static func ofUnbonded(_ device: String, _ handler: String) -> Finding {
        Finding(
            .warning, .handlerUnbonded, "handler \(handler) requires bonded devices, and \(device) is not bonded",
            "The handler is not woken for it.", .run("wakebridge pair \(device.asShellWord)"))
    }

    private static func of(_ warning: BridgeFacts.Warning) -> Finding {
        let why = warning.why.prefix(1).uppercased() + warning.why.dropFirst() + "."
        return Finding(.warning, .handlerRights, warning.what, why, .act(warning.advice))
    }

    private static func of(_ session: BridgeFacts.Session) -> Finding {
        Finding(
            .note, .sessionShut, "the session of \(session.device) is \(session.session.rawValue)",
            "Nothing is heard of it.", .run("wakebridge session open \(session.device.asShellWord)"))
    }
}
