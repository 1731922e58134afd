// A handler whose behaviour, good or bad, is scripted by its arguments; the end-to-end tests run it. Options combine freely.
//
//   --ack-after MS      wait before acknowledging each event          --never-ack        acknowledge nothing
//   --nack SEQ          give back that event, each time it comes      --after S          ... with after_s (decimals allowed)
//   --task NAME         begin a task at the first event ...           --work MS          ... and end it after that long
//   --never-end         ... or never end it                           --checkpoint       keep the seq before each acknowledgement
//   --ready             say ready at the start                        --crash-at SEQ     abort() on that event, unacknowledged
//   --exit CODE         exit with that code at end of file            --exit-after N     exit after acknowledging N events
//   --log FILE          append one line an event before acting on it: seq attempt redelivered device type pid monotonic-ns
//   --record FILE       append every line as it came, after pid, parent's pid and monotonic-ns, before acting on it
//   --crash-on HEX      abort() on the event with those raw bytes, unacknowledged
//   --crash-at-once     abort() before reading anything, while the file --unless names is missing (--unless FILE)
//   --notices FILE      append the type of every line without a seq, with its monotonic-ns
//   --flood N           write N acknowledgements of a seq that was never delivered, at the first event
//   --garbage           write lines that are no replies, at the first event
//   --double-fork       leave a grandchild in a session of its own that sleeps for an hour
//   --hold-lock FILE    take an exclusive lock on the file at the first event and keep it
//   --ignore-term       ignore SIGTERM                                --close-replies    close descriptor 3 at the first event
//   --spam-stdout N     write N bytes to stdout at each event
//
// No Foundation and no library of the bridge: what it knows of the protocol is what any program in any language would know.
import Glibc

// Asked at once: an orphan has another.
let parent = getppid()
let options = Options(Array(CommandLine.arguments.dropFirst()))
if options.has("--ignore-term") { signal(SIGTERM, SIG_IGN) }
if options.has("--crash-at-once"), access(options.text("--unless") ?? "", F_OK) != 0 { abort() }
if options.has("--double-fork") { leaveGrandchild() }
var script = Script(options: options)
if options.has("--ready") { reply("{\"ready\":true}") }
while let line = readLine() { script.take(line) }
exit(Int32(options.number("--exit") ?? 0))
