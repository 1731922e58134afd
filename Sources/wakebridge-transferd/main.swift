// Moves the files of one user's handlers, also while they sleep, and while the daemon is gone.
import Glibc
import WakeSystem

let options = Options(CommandLine.arguments.dropFirst())
do {
    try options.become()
    let server = try TransferServer(listeningOn: Options.socket)
    exit(try server.run())
} catch {
    Log("transfers").error("\(error); the transfers of user \(options.user) wait until wakebridged starts this again")
    exit(1)
}
