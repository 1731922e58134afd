// wakebridge reload: makes the daemon read its profiles, manifests and settings now.
import WakeArguments
import WakeModel

extension Verb {
    static var reload: Verb {
        Verb(
            name: "reload", summary: "read profiles, manifests and settings now", synopsis: ["[--config DIR] [--json]"],
            detail: """
                Manifests are picked up as they are dropped in; this forces it, and tells what was wrong with them. A new or
                changed profile is for devices that come from now on. A warning is of a manifest that was taken. Of the
                settings some take effect at once: alerts, broadcasts, log.lines_per_second, log.burst and mqtt.fields. The
                others are named, and take effect at the daemon's next start. Exit status 1 if anything is wrong; a setting
                that waits is nothing wrong. With --config a daemon of another directory is not asked.
                """,
            examples: ["sudo wakebridge reload"],
            flags: [NamedPlaces.configFlag, jsonFlag] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            if words.has("config") { try words.client.require(reading: NamedPlaces(words).configuration) }
            let answer = try words.client.ask(.post, "/v1/reload")
            if words.has("json") { Console.print(answer.bytes) }
            let errors = answer.json.list("errors").compactMap(\.string)
            for error in errors { Console.say("wakebridge reload: \(error.printable)") }
            for warning in answer.json.list("warnings").compactMap(\.string) {
                Console.say("warning: \(warning.printable)")
            }
            if !words.has("json") { showSettings(answer.json) }
            if !words.has("json"), errors.isEmpty { Console.print("reloaded\n") }
            return errors.isEmpty ? 0 : 1
        }
    }

    private static func showSettings(_ answer: JSONValue) {
        for (list, effect) in [("applied", "took effect"), ("postponed", "take effect at the daemon's next start")] {
            let keys = answer.list(list).compactMap(\.string).map(\.printable)
            if !keys.isEmpty { Console.print("\(effect): \(keys.joined(separator: ", "))\n") }
        }
    }
}
