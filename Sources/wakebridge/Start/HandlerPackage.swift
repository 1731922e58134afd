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

    /// The directory may be there already: only what would be overwritten is in the way.
    func write() throws(Complaint) -> NewFiles {
        let (template, copies) = (paths(below: "Template"), libraryParts.flatMap(paths))
        try NewFiles.refuse(template.map(target) + copies.map { "\(Self.libraryFolder)/\($0)" }, in: directory)
        var files = NewFiles()
        for path in template { try files.add("\(directory)/\(target(of: path))", content(of: path)) }
        for path in copies {
            try files.copy(text(of: "\(library)/\(path)"), to: "\(directory)/\(Self.libraryFolder)/\(path)")
        }
        files.mention("\(directory)/\(Self.libraryFolder)")
        files.next = ["cd \(directory.asShellWord)", "swift test", "swift build -c release"]
        return files
    }

    private static let libraryFolder = "Packages/wakehandler"

    /// The profiles are those that the template's test reads, and the handler's own.
    private var libraryParts: [String] {
        let devices = ["gatt", "heart-rate-monitor", handler.profile.name].map { "Devices/\($0)" }
        return Set(devices + ["Package.swift", "LICENSE", "README.md", "VERSION", "Sources"]).sorted()
    }

    /// The files of the library at a path, and below it; none where nothing is.
    private func paths(below path: String) -> [String] {
        let source = "\(library)/\(path)"
        guard let names = try? Directory.names(in: source) else { return File.exists(source) ? [path] : [] }
        return names.flatMap { paths(below: "\(path)/\($0)") }
    }

    private func target(of path: String) -> String { filled(String(path.dropFirst("Template/".count))) }

    /// The template's own manifest is for the devices of its example.
    private func content(of path: String) throws(Complaint) -> String {
        path == "Template/@NAME@.json5"
            ? HandlerText.manifest(handler, ["/opt/\(handler.name)/\(module)"], isRoot: true)
            : filled(try text(of: "\(library)/\(path)"))
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
