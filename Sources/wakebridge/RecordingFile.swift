// The file that a recording grows in, for as long as it was asked for: written at once, told of at the terminal's foot.
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

    /// What stands at `path` is replaced. Without a `span` only the person ends it. A secret is for its owner alone,
    /// whoever might read what stood there.
    init(_ path: String, for span: TimeSpan?, isSecret: Bool = false) throws(Complaint) {
        self.path = path
        end = span.map { [begun] in begun + $0 }
        do throws(SystemError) {
            file = try isSecret ? File.createSecret(path) : File.open(path, for: .replace)
        } catch { throw .failure("cannot record: \(error)") }
    }

    /// What cannot be written any more ends the recording with ``pace(_:)``.
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

    /// Tells what was recorded, or why it could not be written.
    func finish(_ summary: String) throws(Complaint) {
        progress?.clear()
        if let failure { throw failure }
        Console.say("\(path): \(summary) in \((SystemClock.boottime() - begun).spoken)")
    }
}
