// Prints what a peer sends: the bridge holds the connection while this handler sleeps, and wakes it for each piece.
import Glibc
import WakeHandler

/// What waits in the socket, whose reads wait for nothing.
func readAll(from descriptor: Int32) -> String {
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(descriptor, &piece, piece.count)
        guard count > 0 else { return String(decoding: text, as: UTF8.self) }
        text += piece.prefix(count)
    }
}

let session = BackgroundSession()
session.sockets.register(forSocketNamed: "line") { event in
    guard let descriptor = session.sockets.descriptor(of: "line") else { return .nothing }
    switch event.kind {
    case .opened:
        session.log("the line is open")
        return .useful
    case .readable:
        session.log(readAll(from: descriptor))
        return .useful
    case .closed(let reason):
        session.log("the line is closed: \(reason)")
        close(descriptor)
        return .useful
    case .keepAlive: return .nothing
    }
}
session.sockets.setKeepAliveTimeout(.seconds(900), forSocketNamed: "line") { descriptor in
    _ = write(descriptor, "\n", 1)
}
await session.serve()
