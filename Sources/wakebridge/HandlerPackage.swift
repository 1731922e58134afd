// A handler in Swift to begin with: a copy of the template that lies beside the library.
import WakeModel
import WakeSystem
import WakeWords

enum HandlerLibrary {
    /// The library's package with its template: where WAKEBRIDGE_WAKEHANDLER says, installed beside this program, or in the checkout in which it was built.
    static func folder() throws(Complaint) -> String {
        if let chosen = Environment.value(of: "WAKEBRIDGE_WAKEHANDLER") { return chosen }
        guard let program = try? File.linkTarget(of: "/proc/self/exe") else {
            throw .failure("cannot find the library of handlers in Swift: /proc/self/exe cannot be read; mount /proc")
        }
        var folder = File.parent(of: program)
        let installed = File.parent(of: folder) + "/share/wakebridge/wakehandler"
        if File.exists(installed + "/Template") { return installed }
        while folder.count > 1 {
            let checkout = folder + "/Packages/wakehandler"
            if File.exists(checkout + "/Template") { return checkout }
            folder = File.parent(of: folder)
        }
        throw .failure(
            "cannot find the library of handlers in Swift: there is no \(installed); install it with 'make install', or write the "
                + "handler in another language with --language")
    }
}

struct HandlerPackage {
    private let handler: NewHandler
    private let directory: String
    private let library: String

    init(of handler: NewHandler, in directory: String) throws(Complaint) {
        self.handler = handler
        self.directory = directory
        library = try HandlerLibrary.folder()
    }

    func write() throws(Complaint) -> NewFiles {
        try NewFiles.refuse(directory)
        var files = NewFiles()
        try copy("", into: &files)
        let place = directory.asShellWord
        files.next = ["cd \(place)", "swift test", "swift build -c release"]
        return files
    }

    private func copy(_ path: String, into files: inout NewFiles) throws(Complaint) {
        let source = "\(library)/Template\(path)"
        if let names = try? Directory.names(in: source) {
            for name in names { try copy("\(path)/\(name)", into: &files) }
            return
        }
        let text: String
        do throws(SystemError) { text = try File.text(at: source) } catch {
            throw .failure("cannot copy the template: \(error.description); install the library of handlers again")
        }
        // The template's own is for the devices of its example.
        let isManifest = path == "/@NAME@.json5"
        let manifest = HandlerText.manifest(handler, ["/opt/\(handler.name)/\(module)"], isRoot: true)
        try files.add(directory + filled(path), isManifest ? manifest : filled(text))
    }

    private func filled(_ text: String) -> String {
        text.replacing("@NAME@", with: handler.name).replacing("@MODULE@", with: module).replacing(
            "@WAKEHANDLER@", with: library)
    }

    /// `hr-logger` becomes `HrLogger`: a module's name has no signs, and begins with a letter.
    private var module: String {
        let words = handler.name.split { !$0.isLetter && !$0.isNumber }
        let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return joined.first?.isLetter == true ? joined : "Handler" + joined
    }
}
