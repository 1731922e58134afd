// The texts of a handler to begin with: the programs in shell and Python, and the manifest.
import WakeProfiles

enum HandlerText {
    /// - Parameters:
    ///   - isRoot: the daemon that is to take it runs as root.
    ///   - variables: what the program finds in its environment.
    ///   - keys: lines of a template.
    static func manifest(
        _ handler: NewHandler, _ exec: [String], isRoot: Bool, variables: [(name: String, value: String)] = [],
        keys: [String] = []
    ) -> String {
        let pairs = variables.map { "\($0.name): \($0.value.asJSON)" }
        let environment = pairs.isEmpty ? "" : "\n  env: { \(pairs.joined(separator: ", ")) },"
        let device = handler.device.map { ", device: \($0.asJSON)" } ?? ""
        let user = isRoot ? "\n  user: \"auto\",                 // a user that no other handler has" : ""
        return """
            // The handler \(handler.name); 'wakebridge check' shows the faults of this file.
            {
              exec: [\(exec.map(\.asJSON).joined(separator: ", "))],\(user)\(environment)
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
    /// Describes the handler in its first line.
    fileprivate var about: String {
        let channels = Set(profile.channelNames.values).sorted().joined(separator: ", ")
        return "logs what devices of \(profile.name) say" + (channels.isEmpty ? "." : ": \(channels).")
    }
}
