// The file of a recording: written at once, for the requested time, with a progress line on the terminal.
import WakeModel
import WakeSystem
import WakeWords

final class RecordingFile {
    private let path: String
    private let file: FileDescriptor
    private let begun = SystemClock.boottime()
    private let end: Instant?
    private let progress = ProgressLine.onTerminal()
    private var failure: Complaint?

    /// Replaces the file at `path`. Without a `span` only Ctrl-C ends it. A secret recording is readable only by its owner,
    /// whatever mode the old file had.
    init(_ path: String, for span: TimeSpan?, isSecret: Bool = false) throws(Complaint) {
        self.path = path
        end = span.map { [begun] in begun + $0 }
        do throws(SystemError) {
            file = try isSecret ? File.createSecret(path) : File.open(path, for: .replace)
        } catch { throw .failure("cannot record: \(error)") }
    }

    /// A failed write makes the next ``pace(_:)`` end the recording.
    func write(_ bytes: [UInt8]) {
        var written = 0
        while written < bytes.count, failure == nil {
            do {
                guard case .wrote(let count) = try file.write(bytes, from: written) else { return }
                written += count
            } catch {
                failure = .failure("cannot write \(path): \(error.errno); what came before is kept")
            }
        }
    }

    /// How long the next wait may be; nil once the time is over, or nothing more can be written.
    func pace(_ summary: @autoclosure () -> String) -> TimeSpan? {
        let now = SystemClock.boottime()
        guard failure == nil else { return nil }
        progress?.show("recording for \((now - begun).spoken): \(summary())")
        let wait = progress == nil ? TimeSpan.seconds(60) : .seconds(1)
        guard let end else { return wait }
        return now < end ? min(wait, end - now + .milliseconds(1)) : nil
    }

    /// Prints a summary of the recording, or why it could not be written.
    func finish(_ summary: String) throws(Complaint) {
        progress?.clear()
        if let failure { throw failure }
        Console.say("\(path): \(summary) in \((SystemClock.boottime() - begun).spoken)")
    }
}
