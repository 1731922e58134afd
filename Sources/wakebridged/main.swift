// The daemon's program: parses its command line, runs the daemon, and prints one sentence where it cannot.
import Glibc
import WakeDaemon

exit(DaemonCommand.run(CommandLine.arguments))
