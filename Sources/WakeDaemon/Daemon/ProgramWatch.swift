// What a handler in trouble runs: when that program changes on disk, the handler need not wait for an operator.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Watches the programs of handlers that are held or in quarantine, and only until they run again.
final class ProgramWatch: DecisionListener {
    private let catalog: Catalog
    private let loop: EventLoop
    private var watched: [HandlerID: WatchedProgram] = [:]
    private var settle: Timer?
    private let log = Log("handler")
    /// An editor, or a copy over a slow line, writes in several steps.
    private static let settleTime = TimeSpan.milliseconds(200)
    /// A folder in which something always changes, such as /tmp, never comes to rest.
    private static let longestSettleTime = TimeSpan.seconds(2)
    private var unsettledSince: Instant?

    init(catalog: Catalog, loop: EventLoop) {
        self.catalog = catalog
        self.loop = loop
    }

    /// Calls `body` when something has changed and come to rest: ``removeChanged()`` then says what.
    func listen<Owner: AnyObject>(of owner: Owner, _ body: @escaping (Owner) -> Void) throws(SystemError) {
        settle = try loop.timer(on: .monotonic, of: owner, body)
    }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        switch decision {
        case .held, .moved(_, to: .quarantined, _): watch(handler)
        case .moved(_, to: .launching, _), .moved(_, to: .active, _), .moved(_, to: .stopped, _): watched[handler] = nil
        case .moved, .delivered, .acknowledged, .refused, .handedBack, .withdrawn, .recalled, .released, .advanced,
            .charged,
            .deadLettered, .lost, .struck, .began, .ended, .faulted, .throttled, .notWoken:
            break
        }
    }

    private func watch(_ handler: HandlerID) {
        guard watched[handler] == nil, let manifest = catalog.handlers[handler] else { return }
        let program = WatchedProgram(manifest.programFiles)
        watched[handler] = program
        watchFolders(of: program, manifest.name)
        // What changed while the watch was being made is seen too.
        lookSoon()
    }

    private func watchFolders(of program: WatchedProgram, _ name: String) {
        do throws(SystemError) {
            program.seek()
            for path in program.sought {
                program.folders.append(try WatchedFolder(path, on: loop, of: self) { $0.lookSoon() })
            }
        } catch {
            log.warning("\(name): \(error.description); once you have fixed its program, run: wakebridge start \(name)")
        }
    }

    private func lookSoon() {
        for program in watched.values { for folder in program.folders { folder.drain() } }
        let now = SystemClock.monotonic()
        let since = unsettledSince ?? now
        unsettledSince = since
        settle?.arm(at: min(now + Self.settleTime, since + Self.longestSettleTime))
    }

    /// The handlers whose programs have changed; they are not watched any more.
    func removeChanged() -> [HandlerID] {
        var changed: [HandlerID] = []
        unsettledSince = nil
        for (handler, program) in watched {
            let name = catalog.name(of: handler)
            if let file = program.changedFile {
                log.notice("\(name): \(file) has changed, so it may start again")
                changed.append(handler)
            } else if program.sought != program.nearestFolders {
                // A folder on the way to it has come or gone.
                watchFolders(of: program, name)
                lookSoon()
            }
        }
        for handler in changed { watched[handler] = nil }
        return changed
    }
}

/// The files of one program as they were when its handler failed, and the folders in which they would change.
private final class WatchedProgram {
    /// Two versions that were copied together may have the same time.
    private struct Version: Hashable {
        let number: UInt64
        let time: WallTime

        /// Nil where there is no file.
        init?(of file: String) {
            guard let number = File.number(of: file), let time = File.changeTime(of: file) else { return nil }
            (self.number, self.time) = (number, time)
        }
    }

    private let files: [String]
    private let before: [Version?]
    var folders: [WatchedFolder] = []
    /// Those that were to be watched last: one that cannot be is not tried again until there are others.
    private(set) var sought: [String] = []

    init(_ files: [String]) {
        self.files = files
        before = files.map { Version(of: $0) }
    }

    /// The folders of the files, and of the links on the way to each: a new version often comes as another target of a link.
    var nearestFolders: [String] { Set(files.flatMap { Self.places(of: $0).map(Self.nearestFolder) }).sorted() }

    /// Of a file in a folder that is not there yet, the nearest one above it that is.
    private static func nearestFolder(to file: String) -> String {
        var folder = File.parent(of: file)
        while !File.exists(folder), folder != "/" { folder = File.parent(of: folder) }
        return folder
    }

    /// The file, the links that lead to it, and where it really is.
    private static func places(of file: String) -> [String] {
        var places = [file]
        while places.count < 2 * mostLinks, let last = places.last, let (link, target) = firstLink(on: last) {
            places += [link, target]
        }
        return places
    }

    private static let mostLinks = 16

    /// Nil where none of its folders is a link, nor the file itself.
    private static func firstLink(on path: String) -> (link: String, target: String)? {
        var way = ""
        var rest = path.split(separator: "/")[...]
        while let name = rest.popFirst() {
            let folder = way
            way += "/" + name
            guard let target = try? File.linkTarget(of: way) else { continue }
            let start = target.hasPrefix("/") ? target : "\(folder)/\(target)"
            return (way, ([start] + rest.map(String.init)).joined(separator: "/"))
        }
        return nil
    }

    func seek() { (folders, sought) = ([], nearestFolders) }

    /// Nil while each is as it was. One that is only gone would not help the handler.
    var changedFile: String? {
        zip(files, before).first { file, version in
            let now = Version(of: file)
            return now != nil && now != version
        }?.0
    }
}

private final class WatchedFolder {
    private let directory: DirectoryWatch
    private var watch: Watch?

    init<Owner: AnyObject>(
        _ path: String, on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        directory = try DirectoryWatch(path, seesNew: true)
        watch = try loop.watch(directory.raw, for: .readable, of: owner, body)
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    func drain() { _ = try? directory.drain() }
}
