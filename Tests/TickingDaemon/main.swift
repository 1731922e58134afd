// The daemon with one source more, and one kind of event more.
import Glibc
import TickTrigger
import WakeAgenda
import WakeDaemon
import WakeSources

Agenda.register(TickBook.self)
exit(DaemonCommand.run(CommandLine.arguments, sources: SourceRegistry.all + [TickSource.self]))
