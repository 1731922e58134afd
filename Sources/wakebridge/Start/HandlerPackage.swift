// A handler in Swift to begin with: a copy of the template, with the library beside it, so that the whole can be committed.
import WakeArguments
import WakeModel
import WakeSystem

enum HandlerLibrary {
    /// The library's package with its template: where WAKEBRIDGE_WAKEHANDLER points, installed beside this program, or
    /// laid out in the checkout in which it was built.
    static func folder() throws(Complaint) -> String {
        if let chosen = Environment.value(of: "WAKEBRIDGE_WAKEHANDLER") { return try chosenFolder(chosen) }
        guard let program = try? File.linkTarget(of: "/proc/self/exe") else {
            throw .failure("cannot find the library of handlers in Swift: /proc/self/exe cannot be read; mount /proc")
        }
        var folder = File.parent(of: program)
        let installed = File.parent(of: folder) + "/share/wakebridge/wakehandler"
        if isWhole(installed) { return installed }
        while folder.count > 1 {
            if File.exists(folder + "/Packages/wakehandler/Template") { return try laidOut(in: folder) }
            folder = File.parent(of: folder)
        }
        throw .failure(
            "cannot find the library of handlers in Swift: there is no \(installed); install it with 'make install', or write the "
                + "handler in another language with --language")
    }

    private static func chosenFolder(_ chosen: String) throws(Complaint) -> String {
        if isWhole(chosen) { return chosen }
        throw .failure(
            "cannot use the library of handlers in \(chosen), which WAKEBRIDGE_WAKEHANDLER names: it has no sources; name a folder "
                + "that 'make wakehandler' wrote")
    }

    /// A checkout keeps sources, profiles and template apart: a copy of its folder would not build.
    private static func laidOut(in checkout: String) throws(Complaint) -> String {
        let built = checkout + "/.build/packages/wakehandler"
        if isWhole(built) { return built }
        throw .failure(
            "cannot copy the library of handlers in Swift from the checkout \(checkout): it is not laid out there yet; run "
                + "'make wakehandler' in that folder, and then this again")
    }

    private static func isWhole(_ folder: String) -> Bool {
        ["Package.swift", "Template", "Sources/WakeHandler"].allSatisfy { File.exists("\(folder)/\($0)") }
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
        try copyTemplate("", into: &files)
        try copyLibrary(into: &files)
        let place = directory.asShellWord
        files.next = ["cd \(place)", "swift test", "swift build -c release"]
        return files
    }

    private func copyTemplate(_ path: String, into files: inout NewFiles) throws(Complaint) {
        let source = "\(library)/Template\(path)"
        if let names = try? Directory.names(in: source) {
            for name in names { try copyTemplate("\(path)/\(name)", into: &files) }
            return
        }
        // The template's own is for the devices of its example.
        let isManifest = path == "/@NAME@.json5"
        let manifest = HandlerText.manifest(handler, ["/opt/\(handler.name)/\(module)"], isRoot: true)
        try files.add(directory + filled(path), isManifest ? manifest : filled(text(of: source)))
    }

    /// The profiles are those that the template's test reads, and the handler's own.
    private func copyLibrary(into files: inout NewFiles) throws(Complaint) {
        let devices = ["gatt", "heart-rate-monitor", handler.profile.name].map { "Devices/\($0)" }
        let target = directory + "/Packages/wakehandler"
        for part in Set(devices + ["Package.swift", "LICENSE", "README.md", "VERSION", "Sources"]).sorted() {
            try copyPart(part, to: target, into: &files)
        }
        files.mention(target)
    }

    private func copyPart(_ path: String, to target: String, into files: inout NewFiles) throws(Complaint) {
        let source = "\(library)/\(path)"
        if let names = try? Directory.names(in: source) {
            for name in names { try copyPart("\(path)/\(name)", to: target, into: &files) }
        } else if File.exists(source) {
            try files.copy(text(of: source), to: "\(target)/\(path)")
        }
    }

    private func text(of source: String) throws(Complaint) -> String {
        do throws(SystemError) { return try File.text(at: source) } catch {
            throw .failure("cannot copy \(source): \(error.description); install the library of handlers again")
        }
    }

    private func filled(_ text: String) -> String {
        text.replacing("@NAME@", with: handler.name).replacing("@MODULE@", with: module)
    }

    /// `hr-logger` becomes `HrLogger`: a module's name has no signs, and begins with a letter.
    private var module: String {
        let words = handler.name.split { !$0.isLetter && !$0.isNumber }
        let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return joined.first?.isLetter == true ? joined : "Handler" + joined
    }
}
