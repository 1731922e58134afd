// Keeps the newest message of each topic in a file of its name. letter-reader.json5 is its manifest.
import Glibc
import WakeHandler

let session = BackgroundSession()

session.remoteNotifications.register { message in
    guard let topic = message.topic else { return .noData }
    guard keep(message.payload, in: topic) else { return .failed }
    session.log("\(topic): \(message.text ?? "\(message.payload.count) bytes")")
    return .newData
}
await session.serve()

/// A name of a topic has no slash in it.
func keep(_ bytes: [UInt8], in name: String) -> Bool {
    guard let file = fopen(name, "w") else { return false }
    let count = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && count == bytes.count
}
