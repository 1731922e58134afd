// The daemon with one source more.
import Glibc
import WakeDaemon
import WakeSources

exit(DaemonCommand.run(CommandLine.arguments, sources: SourceRegistry.all + [TickSource.self]))
