// The daemon's program: reads its words, runs, and says in one sentence what stopped it from running.
import Glibc
import WakeDaemon

exit(DaemonCommand.run(CommandLine.arguments))
