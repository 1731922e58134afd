// wakebridge version: the version of the tool, and of the daemon where one answers.
import WakeArguments
import WakeModel

extension Verb {
    static var version: Verb {
        Verb(
            name: "version", summary: "the versions of the tool and of the daemon that answers",
            synopsis: ["[--json]"],
            detail: "Without a daemon that answers within 5 s it is the tool's version only.",
            examples: ["wakebridge version"],
            flags: [Flag("json", short: "j", "print both as one JSON document")] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            let daemon = (try? words.client.ask(.get, "/v1/status", within: .seconds(5)).json)?["bridge"]?.text(
                "version")
            if words.has("json") {
                Console.print(
                    JSONWriter.line { writer in
                        writer.field("wakebridge", Tool.version)
                        writer.field("wakebridged", daemon)
                    })
            } else {
                Console.print("wakebridge \(Tool.version)\n" + (daemon.map { "wakebridged \($0)\n" } ?? ""))
            }
            return 0
        }
    }
}
