// The ground one test stands on: its own directories, the files in them, and the programs that were built beside it.
import Glibc
import WakeSystem

/// Gone with everything in it when the test lets go of it. The runtime directory is on a tmpfs where the machine has one.
package final class Ground {
    package let path: String
    /// Stands for what a reboot wipes.
    package let runtime: String
    /// Whether its directories outlive it, for people to look at.
    package var isKept = getenv("WAKEBRIDGE_TORTURE_KEEP") != nil

    package init(_ name: String = "torture") {
        path = makeDirectory("/tmp/wakebridge-\(name).XXXXXX")
        let volatile = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        runtime = makeDirectory("\(volatile)/wakebridge-\(name).XXXXXX")
        mkdir(file("config"), 0o755)
        mkdir(file("config/handlers.d"), 0o755)
    }

    deinit {
        guard !isKept else { return print("kept: \(path) \(runtime)") }
        Directory.removeTree(path)
        Directory.removeTree(runtime)
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }
    package var record: String { file("record") }
    package var daemonLog: String { file("daemon.log") }
    package var socket: String { "\(runtime)/control.sock" }

    @discardableResult
    package func write(_ text: String, to name: String) -> String {
        put(text, at: file(name))
        return file(name)
    }

    /// Drops a manifest in; the fixture records what it gets to `record-<id>`, or where `words` say otherwise.
    package func install(_ id: String, _ words: [String], durability: String = "run", _ more: String = "") {
        let all = ([Built.fixture, "--record", "\(record)-\(id)"] + words).map { "\"\($0)\"" }.joined(separator: ", ")
        let user = geteuid() == 0 ? "user: \"root\", " : ""
        let text = """
            { exec: [\(all)], \(user)modes: ["bluetooth-central"],
              watch: [{ profile: "heart-rate-monitor", durability: "\(durability)" }],
              timers: { failure_base: "1ms", failure_cap: "5ms" }, \(more) }
            """
        // Renamed into place, as who drops a manifest into a running daemon's folder should.
        let draft = write(text, to: "draft")
        rename(draft, file("config/handlers.d/\(id).json5"))
    }

    /// A reboot: nothing of the runtime directory is left.
    package func wipeRuntime() {
        Directory.removeTree(runtime)
        mkdir(runtime, 0o755)
    }
}

// MARK: Looking at the machine

/// Processes, not zombies, that have `text` in their command line or environment.
package func processes(mentioning text: String) -> [pid_t] {
    names(in: "/proc").compactMap { pid_t($0) }.filter { pid in
        ["cmdline", "environ"].contains { contains(bytes(of: "/proc/\(pid)/\($0)"), text) } && pid != getpid()
    }
}

private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    bytes.withUnsafeBufferPointer { offset(of: text, in: $0) != nil }
}

/// Where the word first stands; compared as bytes, which is many times faster than as characters.
package func offset(of word: String, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    Array(word.utf8).withUnsafeBufferPointer { word in
        guard let base = bytes.baseAddress, let wanted = word.baseAddress else { return nil }
        var start = 0
        while bytes.count - start >= word.count {
            guard let hit = memchr(base + start, Int32(word[0]), bytes.count - word.count + 1 - start) else {
                return nil
            }
            start = UnsafeRawPointer(hit) - UnsafeRawPointer(base)
            if memcmp(base + start, wanted, word.count) == 0 { return start }
            start += 1
        }
        return nil
    }
}
