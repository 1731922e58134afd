// wakebridge config: the settings in force, each with where it comes from.
import WakeDaemon
import WakeModel
import WakeWords

extension Verb {
    static var config: Verb {
        Verb(
            name: "config", summary: "the settings in force, where each comes from, and the directories in use",
            synopsis: ["[--json] show"],
            detail: """
                Reads wakebridge.json5 as a daemon of this user does, and needs no daemon. Each key is shown with its value,
                and with "default" where the file does not name it. A daemon that runs has the settings of its start.
                """,
            flags: [Flag("json", "print the settings as JSON")], operands: [.words("show")]
        ) { words throws(Complaint) in
            guard let action = words.operands.first else { throw .usage("say what: show") }
            guard action == "show" else {
                throw .usage("settings cannot be told to '\(action)'.\(suggestion(for: action, among: ["show"]))")
            }
            try words.atMost(1)
            let settings: SettingsInForce
            do { settings = try SettingsInForce() } catch {
                throw .failure("cannot show the settings: \(error)")
            }
            Console.print(words.has("json") ? settings.json : Array(settings.text.utf8))
            return 0
        }
    }
}

extension SettingsInForce {
    fileprivate var text: String {
        let keys = rows.map { row in
            [row.key.printable, row.value?.printable ?? "-", row.isSet ? file.printable : "default"]
        }
        let places = directories.map { ["  " + $0.name, $0.path.printable] }
        let absence = isThere ? "" : "there is no \(file.printable): every setting is the default\n\n"
        return absence + Table(rows: [["KEY", "VALUE", "FROM"]] + keys).text + "\ndirectories:\n"
            + Table(rows: places).text
    }

    fileprivate var json: [UInt8] {
        JSONWriter.line { writer in
            writer.field("file", file)
            writer.field("is_there", isThere)
            writer.objects("settings", rows) { writer, row in
                writer.field("key", row.key)
                writer.field("value", row.value)
                writer.field("from", row.isSet ? "file" : "default")
            }
            writer.objects("directories", directories) { writer, directory in
                writer.field("name", directory.name)
                writer.field("path", directory.path)
            }
        }
    }
}
