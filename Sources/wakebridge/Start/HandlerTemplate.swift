// Handlers in Python that do a job: the program of each template, and what its manifest has beside the usual keys.
import WakeArguments
import WakeModel
import WakeProfiles
import WakeSystem

enum HandlerTemplate: String, CaseIterable {
    case csv
    case sqlite
    case alert
    case http

    /// Nil where none was named.
    static func named(_ word: String?, language: String?, for handler: String) throws(Complaint) -> HandlerTemplate? {
        guard let word else { return nil }
        // Python looks for modules beside the program first.
        guard !["csv", "json", "os", "sqlite3", "subprocess", "wakehandler"].contains(handler) else {
            throw .usage("'\(handler)' is a module of Python that the program uses; choose another NAME")
        }
        guard let template = HandlerTemplate(rawValue: word) else {
            let known = allCases.map(\.rawValue)
            throw .usage(
                "--template '\(word.printable)' is none of \(known.joined(separator: ", "))."
                    + suggestion(for: word, among: known))
        }
        guard language == nil || language == "python" else {
            throw .usage("--template goes with --language python, and not with '\(language?.printable ?? "")'")
        }
        return template
    }

    /// Keys that a person must set before the handler runs.
    var open: [String] {
        switch self {
        case .csv, .sqlite: []
        case .alert: ["TO", "FIELD", "ABOVE", "BELOW"]
        case .http: ["URL"]
        }
    }

    /// The variables that a person sets in the manifest's `env`, with examples.
    func variables(of handler: NewHandler) -> [(name: String, value: String)] {
        switch self {
        case .csv, .sqlite: []
        case .alert:
            [
                ("TO", "https://ntfy.sh/my-topic"), ("FIELD", handler.profile.firstNumber), ("ABOVE", "100"),
                ("BELOW", "95"),
            ]
        case .http: [("URL", "https://example.org/readings"), ("ROWS", "20")]
        }
    }

    /// The lines of the manifest that this template adds.
    func keys(of handler: NewHandler) -> [String] {
        let enabling = "enabled: false,                // remove this once env is right"
        return switch self {
        case .csv, .sqlite: []
        case .alert: [enabling]
        case .http:
            [
                "ready: \"explicit\",             // it hands over what an earlier process left",
                "transfers: [{ session: \(handler.name.asJSON), discretionary: false }],", enabling,
            ]
        }
    }

    func program(of handler: NewHandler) -> String {
        switch self {
        case .csv: Self.csv(handler)
        case .sqlite: Self.sqlite(handler)
        case .alert: Self.alert(handler)
        case .http: Self.http(handler)
        }
    }
}

extension Profile {
    /// The path of the first number that its values hold; the name of a field to be replaced where it shows none.
    fileprivate var firstNumber: String {
        shownFields.first { $0.kind == .number }?.path.joined(separator: ".") ?? "field"
    }
}

extension HandlerTemplate {
    /// The part that the first two templates share: every number, text and flag of a value, by its name.
    private static let values = """
        def values(value, name=""):
            \"""Each part of a value with its name: rr_s.0 is the first of a list.\"""
            if not isinstance(value, (dict, list)):
                yield name, value
                return
            for key, part in value.items() if isinstance(value, dict) else enumerate(value):
                yield from values(part, f"{name}.{key}" if name else str(key))
        """

    private static func csv(_ handler: NewHandler) -> String {
        #"""
        #!/usr/bin/env python3
        """The handler \#(handler.name): writes every value that devices of \#(handler.profile.name) send as a row of \#(handler.name).csv.

        The file is in the state folder of the handler: /var/lib/wakebridge/handlers/\#(handler.name) if the daemon runs as root.
        """
        import csv
        import os

        import wakehandler

        PATH = os.path.join(os.environ.get("WAKEBRIDGE_STATE_DIR", "."), "\#(handler.name).csv")


        \#(values)


        def newest():
            """Event and name of the last rows: an event comes again if this program ended before it acknowledged the event."""
            with open(PATH, "ab+") as file:
                start = max(0, os.path.getsize(PATH) - 65536)
                file.seek(start)
                text = file.read()
                # A power cut may have left a part of a row.
                end = text.rfind(b"\n") + 1
                file.truncate(start + end)
            rows = csv.reader(text[:end].decode(errors="replace").splitlines())
            return {(row[1], row[3]) for row in rows if len(row) == 5}


        session = wakehandler.Session()
        known = newest()
        with open(PATH, "a", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            if os.path.getsize(PATH) == 0:
                rows.writerow(["time", "id", "device", "name", "value"])
            session.log(f"writing to {PATH}")
            for event in session.events():
                if event.kind == "data":
                    for name, value in values(event.value):
                        if (event.id, name) not in known:
                            rows.writerow([event.time.isoformat(), event.id, event.device, name, value])
                    # On the disk before the acknowledgement, because the daemon then deletes the event.
                    file.flush()
                    os.fsync(file.fileno())
                event.done()

        """#
    }

    private static func sqlite(_ handler: NewHandler) -> String {
        #"""
        #!/usr/bin/env python3
        """The handler \#(handler.name): writes every value that devices of \#(handler.profile.name) send into the database \#(handler.name).db.

        The file is in the state folder of the handler: /var/lib/wakebridge/handlers/\#(handler.name) if the daemon runs as root.
        """
        import os
        import sqlite3

        import wakehandler

        PATH = os.path.join(os.environ.get("WAKEBRIDGE_STATE_DIR", "."), "\#(handler.name).db")


        \#(values)


        session = wakehandler.Session()
        database = sqlite3.connect(PATH)
        # An event that comes again has the same id, and is not written twice.
        database.execute("""
            CREATE TABLE IF NOT EXISTS readings
            (time TEXT, id TEXT, device TEXT, name TEXT, value, PRIMARY KEY (id, name)) WITHOUT ROWID""")
        session.log(f"writing to {PATH}")
        for event in session.events():
            if event.kind == "data":
                # The block commits at its end, before the acknowledgement: the daemon then deletes the event.
                with database:
                    database.executemany(
                        "INSERT OR IGNORE INTO readings VALUES (?, ?, ?, ?, ?)",
                        [(event.time.isoformat(), event.id, event.device, *pair) for pair in values(event.value)])
            event.done()

        """#
    }

    private static func alert(_ handler: NewHandler) -> String {
        #"""
        #!/usr/bin/env python3
        """The handler \#(handler.name): sends an alert when a value of \#(handler.profile.name) is above a limit.

        The manifest has the limits. FIELD above ABOVE sends one alert; the next comes only after FIELD was below BELOW.
        TO is a topic of ntfy, which 'wakebridge send-alert' writes to.
        """
        import json
        import os
        import subprocess

        import wakehandler

        FIELD = os.environ["FIELD"].split(".")
        ABOVE, BELOW = float(os.environ["ABOVE"]), float(os.environ["BELOW"])


        def reading(value):
            for name in FIELD:
                value = value.get(name) if isinstance(value, dict) else None
            return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


        def send(text):
            """True once the server has it. In the environment, no other user sees the address."""
            variables = {**os.environ, "WAKEBRIDGE_ALERT_URL": os.environ["TO"]}
            return subprocess.run(["wakebridge", "send-alert"], input=text, text=True, env=variables).returncode == 0


        session = wakehandler.Session()
        high = None
        for event in session.events():
            if high is None:
                # The devices whose alert was sent, as an earlier process left them.
                high = set(json.loads(session.restoration.checkpoint or "[]")) if session.restoration else set()
            number = reading(event.value) if event.kind == "data" else None
            if number is not None and number > ABOVE and event.device not in high:
                with session.task("alert"):
                    is_sent = send(f"{event.device}: {'.'.join(FIELD)} is {number}")
                if not is_sent:
                    # This event comes again in a minute, and the later ones of its device after it.
                    event.retry(60)
                    continue
                session.log(f"{event.device}: sent an alert at {number}")
                high.add(event.device)
                session.checkpoint(json.dumps(sorted(high)))
            elif number is not None and number < BELOW and event.device in high:
                high.remove(event.device)
                session.checkpoint(json.dumps(sorted(high)))
            event.done()

        """#
    }

    /// Handles the files that the last template hands over.
    private static let outbox = #"""
        class Outbox(wakehandler.TransferDelegate):
            def finished(self, task, path, event):
                os.remove(os.path.join(STATE, path))

            def failed(self, task, why, event):
                session.log(f"{task.id} was not sent, and stays in {STATE}: {why}")


        def ids(path):
            with open(path, "rb+") as file:
                text = file.read()
                # A power cut may have left a part of a line, whose event comes again.
                file.truncate(text.rfind(b"\n") + 1)
            return [json.loads(line)["id"] for line in text.split(b"\n")[:-1]]


        def hand_over(name):
            # One that an earlier process handed over already is the same one.
            outbox.upload_task(name, name, os.environ["URL"], method="POST").resume()
        """#

    private static func http(_ handler: NewHandler) -> String {
        #"""
        #!/usr/bin/env python3
        """The handler \#(handler.name): posts the values that devices of \#(handler.profile.name) send to a web address.

        It collects ROWS events as lines of JSON in a file, and hands the file over. WakeBridge posts it to URL, also while this
        program sleeps, and tries again until the server has it.
        """
        import json
        import os

        import wakehandler

        STATE = os.environ.get("WAKEBRIDGE_STATE_DIR", ".")
        NEXT = os.path.join(STATE, "next.jsonl")
        ROWS = int(os.environ.get("ROWS", "20"))


        \#(outbox)


        def close_file():
            name = f"{waiting[0]}.jsonl"
            os.rename(NEXT, os.path.join(STATE, name))
            hand_over(name)
            waiting.clear()


        session = wakehandler.Session()
        outbox = session.transfers("\#(handler.name)", Outbox())
        left = sorted(name for name in os.listdir(STATE) if name.endswith(".jsonl"))
        # An event comes again if this program ended before it acknowledged the event.
        known = {id for name in left for id in ids(os.path.join(STATE, name))}
        waiting = ids(NEXT) if os.path.exists(NEXT) else []
        for name in left:
            if name != os.path.basename(NEXT):
                hand_over(name)
        session.declare_ready()
        for event in session.events():
            if event.kind == "data" and event.id not in known:
                row = {"time": event.time.isoformat(), "id": event.id, "device": event.device, "value": event.value}
                with open(NEXT, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                    file.flush()
                    # On the disk before the acknowledgement, because the daemon then deletes the event.
                    os.fsync(file.fileno())
                waiting.append(event.id)
            if len(waiting) >= ROWS or event.kind == "disconnected" and waiting:
                close_file()
            event.done()

        """#
    }
}
