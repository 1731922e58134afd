// Arguments, and the few system calls that the fixture makes.
import Glibc

struct Options {
    private let arguments: [String]

    init(_ arguments: [String]) { self.arguments = arguments }

    func has(_ name: String) -> Bool { arguments.contains(name) }

    func text(_ name: String) -> String? {
        guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else { return nil }
        return arguments[index + 1]
    }

    func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}

/// The text of a member of the envelope. The bridge writes without spaces and the envelope before the data, which is
/// all that a program without a JSON parser needs to know.
func member(_ name: String, of line: String) -> String? {
    let text = Array(line.utf8)
    let key = Array("\"\(name)\":".utf8)
    guard text.count >= key.count,
        let start = (0...(text.count - key.count)).first(where: { text[$0...].starts(with: key) })
    else { return nil }
    let value = text[(start + key.count)...]
    if value.first == UInt8(ascii: "\"") {
        return String(decoding: value.dropFirst().prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }
    return String(decoding: value.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") }, as: UTF8.self)
}

/// Descriptor 3 may be closed or gone, which is part of what is tested.
func reply(_ line: String) { writeAll(3, Array("\(line)\n".utf8)) }

func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written < 0, errno != EINTR { return }
        rest = rest.dropFirst(max(0, written))
    }
}

/// One write with O_APPEND, so that lines of several processes never mix and a kill never leaves half of one.
func append(_ line: String, to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    writeAll(file, Array("\(line)\n".utf8))
    close(file)
}

func sleepFor(milliseconds: Int) {
    let end = monotonicNow() + UInt64(milliseconds) * 1_000_000
    var now = monotonicNow()
    // A signal or a thaw may cut one sleep short.
    while now < end {
        var rest = timespec(tv_sec: Int((end - now) / 1_000_000_000), tv_nsec: Int((end - now) % 1_000_000_000))
        nanosleep(&rest, nil)
        now = monotonicNow()
    }
}

func monotonicNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The descriptor stays open for the life of the process: closing it would drop the lock.
func holdLock(_ path: String) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    while flock(file, LOCK_EX) < 0, errno == EINTR {}
}

/// A process that has left its parent, its session and its process group; only the leaf still holds it.
/// The middle process is a shell, because Swift must not run between fork and exec.
func leaveGrandchild() {
    var child: pid_t = 0
    let words = ["/bin/sh", "-c", "setsid sleep 3600 <&- >&- 2>&- 3>&- &"]
    var arguments = words.map { strdup($0) } + [nil]
    if posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ) == 0 { waitpid(child, nil, 0) }
    for argument in arguments { free(argument) }
}
