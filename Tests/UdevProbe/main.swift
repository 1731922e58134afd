// A listener for the tests of udev: prints what is attached and what becomes of it, a line each, and does what it is told on
// its input. It is a program of its own because devices that are made up show only to processes that were started for them.
import Glibc
import WakeSystem

var listener = Listener(try UdevMonitor(subsystems: UdevRecord.accessorySubsystems))
try listener.start()
var watched = [0, listener.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
while poll(&watched, 2, -1) > 0 {
    if watched[1].revents != 0 { try listener.hear() }
    if watched[0].revents != 0 {
        guard let line = readLine() else { break }
        try listener.obey(line)
    }
}
