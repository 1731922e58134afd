// The work of record --air: writes every packet of the kernel's monitor channel into a btsnoop file, as btmon does.
import CCurl
import Glibc
import WakeCapture
import WakeModel
import WakeSystem
import WakeTrace
import WakeWords

func recordAir(_ options: RecordOptions) throws(Complaint) -> Int32 {
    do {
        var socket = try MonitorSocket(linksOnly: false)
        // Opened only now, so that a refusal leaves an older capture unchanged.
        let file = try RecordingFile(options.output, for: options.span, isSecret: true)
        file.write(AirCapture.header)
        var count = 0
        let interrupt = wake_interrupt_descriptor()
        defer { if interrupt >= 0 { close(interrupt) } }
        while let wait = file.pace(count.counted("packet")) {
            var waits = [socket.raw, interrupt].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&waits, nfds_t(waits.count), Int32(clamping: wait.wholeMilliseconds))
            count += try drain(&socket, into: file)
            if waits[1].revents != 0 { break }
        }
        try file.finish(count.counted("packet"))
        return 0
    } catch let complaint as Complaint {
        throw complaint
    } catch {
        throw .failure("cannot record the air: \(error)")
    }
}

/// Writes the waiting packets, in portions, so that Ctrl-C and the terminal get a turn; returns their number.
private func drain(_ socket: inout MonitorSocket, into file: RecordingFile) throws(SystemError) -> Int {
    var count = 0
    while count < 256, let record = try socket.receive() {
        guard let bytes = AirCapture.record(record.bytes, at: record.time) else { continue }
        file.write(bytes)
        count += 1
    }
    return count
}
