// A table with --watch over a restart of the daemon.
import Glibc
import TestBench
import Testing

@Suite("A table that is watched") struct LiveViewTests {
    /// Runs the tool on a terminal, shows what it writes, and types Ctrl-C at SIGUSR1.
    private static let terminal = """
        import os, pty, signal, sys
        tool, terminal = pty.fork()
        if tool == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.environ["TERM"] = "xterm"
            os.execv(sys.argv[1], sys.argv[1:])
        signal.signal(signal.SIGUSR1, lambda *_: os.write(terminal, b"\\x03"))
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        while True:
            try: os.write(1, os.read(terminal, 65536))
            except OSError: sys.exit(os.waitstatus_to_exitcode(os.waitpid(tool, 0)[1]))
        """

    @Test("status goes on over a restart of the daemon, and says meanwhile since when it has not answered")
    func restart() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.start()
        let start = ["/usr/bin/python3", "-c", Self.terminal, Built.tool, "--runtime", daemon.runtime]
        let watch = try Child(start + ["status", "--watch=100ms"])
        #expect(daemon.wait { watch.output.contains(", process \(daemon.process), up ") }, "\(watch.output)")
        try daemon.stop()
        #expect(daemon.wait { watch.output.contains("the daemon has not answered since 20") }, "\(watch.output)")
        try daemon.start()
        #expect(daemon.wait { watch.output.contains(", process \(daemon.process), up ") }, "\(watch.output)")
        kill(watch.process, SIGUSR1)
        #expect(
            daemon.wait { watch.isOver } && watch.exit == 0 && watch.output.hasSuffix("\u{1b}[?25h"), "\(watch.output)")
    }
}
