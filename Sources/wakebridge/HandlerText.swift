// The texts of a handler to begin with: the programs in shell and Python, and the manifest.
import WakeProfiles

enum HandlerText {
    /// - Parameters:
    ///   - isRoot: the daemon that is to take it runs as root.
    ///   - keys: lines of a template.
    static func manifest(_ handler: NewHandler, _ exec: [String], isRoot: Bool, keys: [String] = []) -> String {
        let device = handler.device.map { ", device: \($0.asJSON)" } ?? ""
        let user = isRoot ? "\n  user: \"auto\",                 // a user that no other handler has" : ""
        return """
            // The handler \(handler.name); 'wakebridge check' tells what is wrong with this file.
            {
              exec: [\(exec.map(\.asJSON).joined(separator: ", "))],\(user)
              modes: ["\(handler.profile.kind.rawValue)"],
              watch: [{ profile: \(handler.profile.name.asJSON)\(device) }],\(keys.map { "\n  " + $0 }.joined())
            }

            """
    }

    static func shell(_ handler: NewHandler) -> String {
        #"""
        #!/bin/sh
        # The handler \#(handler.name): \#(handler.about)
        # WakeBridge writes an event a line to standard input, and freezes this program between them.
        # What it prints is its log: wakebridge logs \#(handler.name)
        # jq writes a line for each event that wants an answer: its number, its device, and its value or its kind.
        # Lines without a seq, such as "resumed", are about this program, and want none.
        jq --unbuffered -r 'select(.seq) | "\(.seq)\t\(.subject)\t\(
            if .data.value then .data.value | tojson                  # data that the profile decodes
            elif .data.raw then "raw \(.data.raw)"                    # data that it leaves as bytes
            else .type | split(".")[-1] end                           # connected, disconnected, gap, attention
        )"' | while IFS="$(printf '\t')" read -r seq device what; do
            printf '%s %s\n' "$device" "$what"
            echo "{\"ack\":$seq}" >&3                                  # done; without this it comes again
        done

        """#
    }

    static func python(_ handler: NewHandler) -> String {
        #"""
        #!/usr/bin/env python3
        """The handler \#(handler.name): \#(handler.about)

        WakeBridge writes an event a line to standard input, and freezes this program between them.
        What it prints is its log: wakebridge logs \#(handler.name)
        """
        import json
        import os
        import sys

        REPLIES = int(os.environ.get("WAKEBRIDGE_FD", "3"))

        for line in sys.stdin:
            event = json.loads(line)
            # Only what has a seq wants an answer; the rest tells how the handler fares, such as "resumed".
            if "seq" not in event:
                continue
            data = event.get("data", {})
            if event["type"] == "wakebridge.device.data":
                print(event["subject"], json.dumps(data.get("value", data.get("raw"))), flush=True)
            else:  # connected, disconnected, gap, attention
                print(event["subject"], event["type"].rsplit(".", 1)[-1], flush=True)
            # Done; without this it comes again.
            os.write(REPLIES, b'{"ack":%d}\n' % event["seq"])

        """#
    }
}

extension NewHandler {
    /// What it does, for its first line.
    fileprivate var about: String {
        let channels = Set(profile.channelNames.values).sorted().joined(separator: ", ")
        return "logs what devices of \(profile.name) say" + (channels.isEmpty ? "." : ": \(channels).")
    }
}
