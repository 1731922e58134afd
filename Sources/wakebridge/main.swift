// The operator's tool: finds the verb, runs it, and turns a failure into a sentence and an exit status.
import Glibc
import WakeSystem

StandardStreams.occupyClosed()
Signals.heedBrokenPipes()
exit(Tool.run(CommandLine.arguments))
