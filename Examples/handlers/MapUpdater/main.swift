// Receives maps in the background, as with a background URLSession. map-updater.json5 says when and what must be true.
import WakeHandler

final class Maps: TransferSessionDelegate {
    func transferSession(_ session: TransferSession, downloadTask: TransferTask, didFinishDownloadingTo path: String) {
        background.log("\(downloadTask.identifier) lies at \(path)")
    }

    func transferSession(
        _ session: TransferSession, task: TransferTask, didCompleteWith end: FinishedTransfer, failure: TransferFailure?
    ) {
        if let failure { background.log("\(task.identifier) failed: \(failure)") }
    }

    func transferSessionDidFinishEvents(
        _ session: TransferSession, finished: Int, failed: Int, completionHandler: @escaping @MainActor () -> Void
    ) {
        background.log("\(finished) maps are new, \(failed) are not")
        completionHandler()
    }
}

let background = BackgroundSession()
let maps = background.transferSession(withIdentifier: "maps", delegate: Maps())
background.scheduler.register(forTaskWithIdentifier: "look") { _ in
    // Each word is an address; the file is called as its last part.
    for address in CommandLine.arguments.dropFirst() {
        let name = address.split(separator: "/").last.map(String.init) ?? address
        try await maps.downloadTask(name, from: address, to: name).resume()
    }
    return .useful
}
await background.serve()
