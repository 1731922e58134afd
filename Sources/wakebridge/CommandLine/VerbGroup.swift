// The verbs in the groups of the help, each for one purpose.

struct VerbGroup {
    let title: String
    let verbs: [Verb]

    static var all: [VerbGroup] {
        [
            VerbGroup(title: "Start", verbs: [.setup, .new, .check, .status, .logs, .watch, .doctor]),
            VerbGroup(
                title: "Devices",
                verbs: [.scan, .pair, .add, .forget, .devices, .inspect, .read, .write, .wait, .session, .profile]),
            VerbGroup(
                title: "Handlers",
                verbs: [.handlers, .start, .stop, .restart, .why, .attach, .simulate, .run, .deadLetters, .top]),
            VerbGroup(
                title: "Scheduled", verbs: [.pending, .runJob, .cancelJob, .transfers, .sendMessage, .sendAlert]),
            VerbGroup(title: "Recordings", verbs: [.record, .replay, .import, .export, .merge, .trace]),
            VerbGroup(title: "Admin", verbs: [.config, .reload, .web, .report, .udevRules, .completion, .version]),
        ]
    }
}
