// Copies folders to a disk at night, one by one. nightly-backup.json5 says which, when, and what must be true.
import Glibc
import WakeHandler

let session = BackgroundSession()
let (folders, target) = (Array(CommandLine.arguments.dropFirst().dropLast()), CommandLine.arguments.last ?? ".")

session.scheduler.register(forTaskWithIdentifier: "nightly-backup") { task in
    for (number, folder) in folders.enumerated() {
        // Cancelled where a condition went or the time is over; the job then comes again, and cp passes over what is there.
        try Task.checkCancellation()
        guard await copy(folder, to: target) else { return .failed }
        // Each folder that is done gives it a minute more.
        task.progress(number + 1, of: folders.count)
    }
    session.log("\(folders.count) folders are in \(target)")
    return .useful
}
await session.serve()

/// Beside the main actor, where the session hears the daemon meanwhile.
func copy(_ folder: String, to target: String) async -> Bool {
    await Task.detached {
        setenv("FOLDER", folder, 1)
        setenv("TARGET", target, 1)
        return system("exec cp -a -u -- \"$FOLDER\" \"$TARGET\"") == 0
    }.value
}
