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
        case .moved, .delivered, .acknowledged, .refused, .charged, .deadLettered, .lost, .struck, .began, .ended,
            .faulted, .throttled, .notWoken:
            break
        }
    }

    private func watch(_ handler: HandlerID) {
        guard watched[handler] == nil, let manifest = catalog.handlers[handler] else { return }
        let program = WatchedProgram(manifest.programFiles)
        watched[handler] = program
        watchFolders(of: program, manifest.id)
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
        settle?.arm(at: SystemClock.monotonic() + Self.settleTime)
    }

    /// The handlers whose programs have changed; they are not watched any more.
    func removeChanged() -> [HandlerID] {
        var changed: [HandlerID] = []
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
    private let files: [String]
    private let before: [WallTime?]
    var folders: [WatchedFolder] = []
    /// Those that were to be watched last: one that cannot be is not tried again until there are others.
    private(set) var sought: [String] = []

    init(_ files: [String]) {
        self.files = files
        before = files.map { File.changeTime(of: $0) }
    }

    /// Of a file in a folder that is not there yet, the nearest one above it that is.
    var nearestFolders: [String] {
        let folders = files.map { file in
            var folder = File.parent(of: file)
            while !File.exists(folder), folder != "/" { folder = File.parent(of: folder) }
            return folder
        }
        return Set(folders).sorted()
    }

    func seek() { (folders, sought) = ([], nearestFolders) }

    /// Nil while each is as it was. One that is only gone would not help the handler.
    var changedFile: String? {
        zip(files, before).first { file, time in
            let now = File.changeTime(of: file)
            return now != nil && now != time
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
