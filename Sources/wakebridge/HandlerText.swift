// The texts of a handler to begin with: the programs in shell and Python, and the manifest.
import WakeProfiles

enum HandlerText {
    /// - Parameter isRoot: the daemon that is to take it runs as root.
    static func manifest(_ handler: NewHandler, _ exec: [String], isRoot: Bool) -> String {
        let device = handler.device.map { ", device: \($0.asJSON)" } ?? ""
        let user = isRoot ? "\n  user: \"auto\",                 // a user that no other handler has" : ""
        return """
            // The handler \(handler.name); 'wakebridge check' tells what is wrong with this file.
            {
              exec: [\(exec.map(\.asJSON).joined(separator: ", "))],\(user)
              modes: ["\(handler.profile.kind.rawValue)"],
              watch: [{ profile: \(handler.profile.name.asJSON)\(device) }],
            }

            """
    }

    static func shell(_ handler: NewHandler) -> String {
        #"""
        #!/bin/sh
        # The handler \#(handler.name): \#(handler.about)
        # WakeBridge writes an event a line to standard input, and freezes this program between them.
        # What it prints is its log: wakebridge logs \#(handler.name)
        while IFS= read -r line; do
            # Only what has a seq wants an answer; the rest tells how the handler fares, such as "resumed".
            case $line in *'"seq":'*) ;; *) continue ;; esac
            seq=${line#*\"seq\":} seq=${seq%%,*}
            device=${line#*\"subject\":\"} device=${device%%\"*}
            case $line in
                *'"value":'*)                       # data that the profile decodes
                    value=${line#*\"value\":}
                    echo "$device ${value%,\"raw\":*}" ;;
                *'"raw":"'*)                        # data that it leaves as bytes
                    raw=${line#*\"raw\":\"}
                    echo "$device raw ${raw%%\"*}" ;;
                *)                                  # connected, disconnected, gap, attention
                    kind=${line#*\"type\":\"wakebridge.device.}
                    echo "$device ${kind%%\"*}" ;;
            esac
            echo "{\"ack\":$seq}" >&3                # done; without this it comes again
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
