// The daemon with clocks and alarms that a test moves.
import Glibc
import SteppedClock
import WakeDaemon

exit(DaemonCommand.run(CommandLine.arguments, timers: SteppedTimers.make()))
