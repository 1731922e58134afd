// wakebridge reload: makes the daemon read its profiles, manifests and settings now.
import WakeArguments
import WakeModel

extension Verb {
    static var reload: Verb {
        Verb(
            name: "reload", summary: "read profiles, manifests and settings now", synopsis: ["[--json]"],
            detail: """
                Manifests are picked up as they are dropped in; this forces it, and tells what was wrong with them. A new or
                changed profile is for devices that come from now on. A warning is of a manifest that was taken. Of the
                settings some take effect at once: alerts, broadcasts, log.lines_per_second, log.burst and mqtt.fields. The
                others are named, and take effect at the daemon's next start.
                """,
            examples: ["sudo wakebridge reload"],
            flags: [jsonFlag] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            let answer = try words.client.ask(.post, "/v1/reload")
            if words.has("json") { Console.print(answer.bytes) }
            let errors = answer.json.list("errors").compactMap(\.string)
            for error in errors { Console.say("wakebridge reload: \(error.printable)") }
            for warning in answer.json.list("warnings").compactMap(\.string) {
                Console.say("warning: \(warning.printable)")
            }
            if !words.has("json") {
                let applied = answer.json.list("applied").compactMap(\.string).map(\.printable)
                if !applied.isEmpty { Console.print("took effect: \(applied.joined(separator: ", "))\n") }
                if errors.isEmpty { Console.print("reloaded\n") }
            }
            return errors.isEmpty ? 0 : 1
        }
    }
}
