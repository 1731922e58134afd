// The broadcasters that a person named: they cannot be paired, so that the daemon itself keeps who is meant.
import WakeModel
import WakeSystem

/// The file has a line for each: its address and its name.
struct BroadcasterList {
    private var file: LineFileStore
    private(set) var names: [RadioAddress: String] = [:]

    init(in directory: String) {
        file = LineFileStore(directory + "/broadcasters", Log("broadcasts"))
        var read: [RadioAddress: String] = [:]
        file.read("no broadcaster counts as named") { line in
            let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 1)
            guard words.count == 2, let address = RadioAddress(words[0]) else {
                return "it is not an address and a name"
            }
            read[address] = String(words[1])
            return nil
        }
        names = read
    }

    mutating func name(_ address: RadioAddress, _ alias: String) throws(SystemError) {
        try keep(alias, for: address)
    }

    mutating func forget(_ address: RadioAddress) throws(SystemError) { try keep(nil, for: address) }

    private mutating func keep(_ alias: String?, for address: RadioAddress) throws(SystemError) {
        var next = names
        next[address] = alias
        guard next != names else { return }
        try file.write(next.sorted { $0.key.number < $1.key.number }.map { "\($0.key) \($0.value)" })
        names = next
    }
}
