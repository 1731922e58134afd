// Bytes over a line whose both ends are in one program.
import TestBench
import WakeSystem

/// Sends all of `bytes` in chunks of chance, both ends being served in turn, and returns what arrived.
func carry(
    _ bytes: [UInt8], chunk: () -> Int, write: (ArraySlice<UInt8>) throws -> WriteResult,
    read: () throws -> NodeReading<[UInt8]>
) throws -> [UInt8] {
    var (rest, arrived): (ArraySlice<UInt8>, [UInt8]) = (bytes[...], [])
    _ = try Patience.wait {
        if !rest.isEmpty, case .wrote(let count) = try write(rest.prefix(chunk())) { rest = rest.dropFirst(count) }
        while case .content(let more) = try read() { arrived += more }
        return arrived.count >= bytes.count
    }
    return arrived
}
