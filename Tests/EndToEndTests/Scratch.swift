// One test's own directory, and the files that tests put into it: traces, manifests, scripts.
import Glibc
import TestBench
import WakeSystem

let heartRateTrace = "\(packageFolder)/Devices/heart-rate-monitor/recording.trace"

/// Gone with everything in it when the test lets go of it.
final class Scratch {
    let path: String

    init() {
        path = makeDirectory("/tmp/wakebridge-e2e.XXXXXX")
        // Handlers of another user write here too, and can change nothing of what is not theirs.
        chmod(path, 0o1777)
    }

    deinit { Directory.removeTree(path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    func write(_ text: String, to name: String, mode: mode_t = 0o644) -> String {
        write(Array(text.utf8), to: name, mode: mode)
    }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o644) -> String {
        put(bytes, at: file(name), mode: mode)
        return file(name)
    }

    /// A shell script, executable.
    func script(_ body: String, named name: String = "handler.sh") -> String {
        write("#!/bin/sh\n\(body)\n", to: name, mode: 0o755)
    }

    func directory(_ name: String) -> String {
        mkdir(file(name), 0o777)
        return file(name)
    }
}

/// A manifest's text; `more` stands beside what every one must say.
func manifest(_ exec: [String], user: String? = nil, _ more: String = "") -> String {
    let words = exec.map { "\"\($0)\"" }.joined(separator: ", ")
    let account = (user ?? (Machine.isRoot ? "root" : nil)).map { "user: \"\($0)\", " } ?? ""
    return """
        { exec: [\(words)], \(account)modes: ["bluetooth-central", "external-accessory"],
          watch: [{ profile: "heart-rate-monitor" }], \(more) }
        """
}

/// One line of the fixture's log.
struct LoggedEvent: Hashable {
    var sequence: Int
    var attempt: Int
    var device: String
    var kind: String
    var process: Int32
    var time: Double

    static func read(_ path: String) -> [LoggedEvent] {
        lines(of: path).compactMap { line in
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count == 7, let sequence = Int(fields[0]), let nanoseconds = Double(fields[6]) else {
                return nil
            }
            return LoggedEvent(
                sequence: sequence, attempt: Int(fields[1]) ?? 0, device: fields[3], kind: fields[4],
                process: Int32(fields[5]) ?? 0, time: nanoseconds / 1e9)
        }
    }
}

/// One line of the fixture's notices: what came without a number, and when.
func notices(_ path: String) -> [(kind: String, time: Double)] {
    lines(of: path).map { line in
        let fields = line.split(separator: " ")
        return (fields[0].replacingPrefix("wakebridge.", with: ""), (Double(fields[1]) ?? 0) / 1e9)
    }
}

extension Substring {
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : String(self)
    }
}
