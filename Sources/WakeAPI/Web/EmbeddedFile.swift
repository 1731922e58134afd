// The files of the page as the program carries them.
import CPage

struct EmbeddedFile {
    let name: String
    let bytes: [UInt8]

    /// - Parameter number: from 0; nil is returned behind the last.
    init?(number: Int) {
        guard let file = wake_page_file(number)?.pointee else { return nil }
        name = String(cString: file.name)
        bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.end - file.bytes))
    }

    static var all: [EmbeddedFile] {
        var files: [EmbeddedFile] = []
        while let file = EmbeddedFile(number: files.count) { files.append(file) }
        return files
    }
}
