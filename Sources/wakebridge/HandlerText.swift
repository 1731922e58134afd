// The texts of a handler to begin with: the programs in shell and Python, and the manifest.
import WakeProfiles

enum HandlerText {
    /// - Parameters:
    ///   - isRoot: the daemon that is to take it runs as root.
    ///   - pythonPath: where the program finds the module of handlers; nil where it needs no word of it.
    static func manifest(
        _ handler: NewHandler, _ exec: [String], isRoot: Bool, pythonPath: String? = nil
    ) -> String {
        let path =
            pythonPath.map { "\n  env: { PYTHONPATH: \($0.asJSON) },   // where the module wakehandler is" } ?? ""
        let device = handler.device.map { ", device: \($0.asJSON)" } ?? ""
        let user = isRoot ? "\n  user: \"auto\",                 // a user that no other handler has" : ""
        return """
            // The handler \(handler.name); 'wakebridge check' tells what is wrong with this file.
            {
              exec: [\(exec.map(\.asJSON).joined(separator: ", "))],\(user)\(path)
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

        WakeBridge freezes this program between events. What it prints is its log: wakebridge logs \#(handler.name)
        """
        import json

        import wakehandler

        session = wakehandler.Session()
        for event in session:
            # The end of this block finishes the event. An exception gives it back, so that it comes again.
            with event:
                if event.kind == wakehandler.EventKind.DATA:
                    session.log(f"{event.device} {json.dumps(event.value or event.bytes.hex())}")
                else:  # connected, disconnected, gap, attention
                    session.log(f"{event.device} {event.kind}")

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
