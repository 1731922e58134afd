// What a handler process is given, and what it is not: user, environment, descriptors, directory, log.
import Glibc
import TestBench
import Testing

@Suite("What a handler is given", .enabled(if: Machine.freezes, "no cgroup of version 2 can be made here"))
struct ConfinementTests {
    private let scratch = Scratch()

    /// Answers everything, after it has written down what it sees around itself.
    private func looker(_ look: String) -> String {
        scratch.script(
            """
            { \(look)
            } >\(scratch.file("seen.new")) 2>&1
            chmod 0666 \(scratch.file("seen.new")); mv \(scratch.file("seen.new")) \(scratch.file("seen"))
            while IFS= read -r line; do
                case $line in *'"seq":'*) ;; *) continue ;; esac
                seq=${line#*'"seq":'}; echo "{\\"ack\\":${seq%%,*}}" >&3
            done
            """)
    }

    /// What the looker wrote, from a daemon that plays one event to it.
    private func seen(_ look: String, user: String, _ more: String = "") async throws -> [String] {
        let trace = scratch.write(TraceText.beats(0, every: 1).text, to: "one.trace")
        let daemon = try await RunningDaemon(
            scratch, handlers: ["looker": manifest([looker(look)], user: user, more)], replay: trace)
        let hasLooked = try await wait(10) { access(scratch.file("seen"), R_OK) == 0 }
        let outcome = try await daemon.stop()
        try #require(hasLooked, "the handler did not run; the daemon says: \(outcome.talk)")
        return lines(of: scratch.file("seen"))
    }

    @Test(
        "a bridge that is root runs a handler as its user, with that user's own group and no way back to privileges",
        .enabled(if: Machine.isRoot, "only root can run handlers as somebody else"))
    func switchesUser() async throws {
        let seen = try await seen(
            """
            id -u; id -g; id -G
            grep -E '^(NoNewPrivs|CapEff|CapPrm):' /proc/self/status | tr -d '\\t'
            echo "kept" >"$WAKEBRIDGE_STATE_DIR/proof" && cat "$WAKEBRIDGE_STATE_DIR/proof"
            stat -c %U "$WAKEBRIDGE_STATE_DIR"; pwd; echo "$WAKEBRIDGE_STATE_DIR"
            """, user: "nobody")
        #expect(seen.count == 10, "\(seen)")
        guard seen.count == 10 else { return }
        #expect(seen[0] == "65534" && seen[1] == "65534" && seen[2] == "65534")
        #expect(seen[3...5].sorted() == ["CapEff:0000000000000000", "CapPrm:0000000000000000", "NoNewPrivs:1"])
        #expect(seen[6] == "kept")
        #expect(seen[7] == "nobody")
        #expect(seen[8] == seen[9])
        #expect(seen[9] == scratch.file("state/handlers/looker"))
    }

    @Test("a handler's environment is what is written down, and nothing of ours")
    func givesEnvironment() async throws {
        let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
        let seen = try await seen("env | sort", user: user, "env: { COLOUR: \"red\" }")
        let names = seen.map { String($0.prefix { $0 != "=" }) }.filter {
            !["_", "PWD", "SHLVL", "OLDPWD"].contains($0)
        }
        #expect(
            names == [
                "COLOUR", "HOME", "LANG", "LOGNAME", "PATH", "USER", "WAKEBRIDGE_FD", "WAKEBRIDGE_HANDLER",
                "WAKEBRIDGE_PROTOCOL", "WAKEBRIDGE_REASON", "WAKEBRIDGE_STATE_DIR",
            ])
        for wanted in [
            "COLOUR=red", "WAKEBRIDGE_PROTOCOL=1", "WAKEBRIDGE_HANDLER=looker", "WAKEBRIDGE_REASON=connected",
            "WAKEBRIDGE_FD=3", "WAKEBRIDGE_STATE_DIR=\(scratch.file("state/handlers/looker"))",
        ] {
            #expect(seen.contains(wanted))
        }
    }

    @Test("a handler has the descriptors 0 to 3 and no other, and descriptor 3 is a pipe")
    func givesDescriptors() async throws {
        let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
        // A program, not the shell, which keeps its script open.
        let seen = try await seen("ls /proc/self/fd; readlink /proc/self/fd/3", user: user)
        // `ls` itself adds the directory it reads.
        #expect(seen.dropLast() == ["0", "1", "2", "3", "4"])
        #expect(seen.last?.hasPrefix("pipe:") == true)
    }

    @Test("a handler named relative to its manifest is found, and starts in the folder its manifest says")
    func startsWhereSaid() async throws {
        _ = scratch.directory("config")
        let folder = scratch.directory("config/handlers.d")
        let body = text(of: looker("pwd"))
        let path = scratch.write(body, to: "config/handlers.d/near.sh", mode: 0o755)
        chmod(path, 0o755)
        let trace = scratch.write(TraceText.beats(0, every: 1).text, to: "one.trace")
        let daemon = try await RunningDaemon(
            scratch, handlers: ["near": manifest(["./near.sh"], "cwd: \"\(folder)\"")], replay: trace)
        let hasLooked = try await wait(10) { access(scratch.file("seen"), R_OK) == 0 }
        let outcome = try await daemon.stop()
        #expect(hasLooked, "the daemon says: \(outcome.talk)")
        #expect(lines(of: scratch.file("seen")) == [folder])
    }

    @Test("stdout and stderr of a handler are drained and limited, and the log names it", .timeLimit(.minutes(1)))
    func drainsLogs() async throws {
        let script = scratch.script(
            """
            echo hello from stdout; echo hello from stderr >&2; sleep 0.3
            i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i + 1)); done
            printf '%020000d\\n' 7; printf 'bell \\007 and escape \\033[31m\\n'
            while IFS= read -r line; do
                case $line in *'"seq":'*) ;; *) continue ;; esac
                seq=${line#*'"seq":'}; echo "{\\"ack\\":${seq%%,*}}" >&3; echo "acked ${seq%%,*}"
            done
            """)
        let trace = scratch.write(TraceText.beats(3, every: 0.7).text, to: "some.trace")
        let daemon = try await RunningDaemon(
            scratch, handlers: ["chatty": manifest([script])],
            settings: "{ log: { lines_per_second: 50, burst: 200 } }",
            replay: trace)
        let isHeard = try await wait(20) { daemon.running.talk.contains("acked 4") }
        #expect(isHeard)
        let logs = try await daemon.tool("logs", "chatty")
        #expect(logs.exit == 0)
        #expect(logs.output.contains("acked 4"))
        let talk = try await daemon.stop().talk.split(separator: "\n")
        #expect(talk.contains { $0.contains("chatty: hello from stdout") })
        #expect(talk.contains { $0.contains("chatty: hello from stderr") })
        #expect(talk.count < 700, "\(talk.count) lines in spite of the limit")
        #expect(talk.contains { $0.contains("chatty") && $0.contains("dropped") })
        #expect(!talk.contains { $0.utf8.contains(7) || $0.utf8.contains(27) })
    }
}
