// The kernel's reports of pressure (PSI): one descriptor for one limit.
import Glibc

enum PressureTrigger {
    /// A descriptor that polls `priority` when tasks waited for the resource for `stalledMicroseconds` within
    /// `windowMicroseconds` (500,000 to 10,000,000; without privilege a multiple of 2,000,000). Nil where the kernel
    /// keeps no pressure figures, or this process may not read them.
    static func open(_ file: String, stalledMicroseconds: Int, windowMicroseconds: Int) -> FileDescriptor? {
        guard let file = try? File.open(file, for: .readWrite), (try? file.setNonblocking()) != nil else { return nil }
        // The closing zero is part of the request.
        let request = Array("some \(stalledMicroseconds) \(windowMicroseconds)\u{0}".utf8)
        guard case .wrote? = try? file.write(request) else { return nil }
        return file
    }
}
