// Lets libFuzzer try inputs on the reader that FUZZ_TARGET names; the word `list` shows all readers, and what they begin with;
// `begin READER FOLDER` writes there what a reader makes to begin with.
import CFuzzer
import FuzzTargets
import Glibc
import WakeSystem

guard CommandLine.arguments.dropFirst().first != "list" else {
    for reader in FuzzTable.all { print(([reader.name] + reader.files).joined(separator: " ")) }
    exit(0)
}

if CommandLine.arguments.count == 4, CommandLine.arguments[1] == "begin" {
    let reader = FuzzTable.reader(named: CommandLine.arguments[2])
    for (number, bytes) in try (reader?.beginnings() ?? []).enumerated() {
        try File.replace("\(CommandLine.arguments[3])/made-\(number)", with: bytes)
    }
    exit(0)
}

/// What libFuzzer calls has no room for a value of its own.
private enum Wanted {
    static let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    static let reader = FuzzTable.reader(named: name)
}

guard Wanted.reader != nil else {
    print("FUZZ_TARGET names no reader: \"\(Wanted.name)\"; `list` shows them")
    exit(2)
}

var count = CommandLine.argc
var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
    LLVMFuzzerRunDriver(&count, &words) { bytes, count in
        Wanted.reader?.read([UInt8](UnsafeBufferPointer(start: bytes, count: count))) == false ? -1 : 0
    })
