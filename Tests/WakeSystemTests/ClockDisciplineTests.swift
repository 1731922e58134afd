// Whether the wall clock can be believed: by the kernel's own estimate of its error, and by a clock with a battery.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite("The clock that can be believed", .serialized)
struct ClockDisciplineTests {
    @Test("a clock is kept while its error is below 16 s, and where the question is not permitted")
    func maxError() {
        #expect(ClockDiscipline.isKept(maxError: 0))
        #expect(ClockDiscipline.isKept(maxError: 15_999_999))
        #expect(!ClockDiscipline.isKept(maxError: 16_000_000))
        #expect(ClockDiscipline.isKept(maxError: -Int64(EPERM)))
        #expect(!ClockDiscipline.isKept(maxError: -Int64(EFAULT)))
    }

    @Test(
        "a clock that is kept as chrony does, with STA_UNSYNC left set, is synchronized",
        .enabled(if: KernelClock.canBeKept, "needs the right to set the clock"))
    func unsyncFlag() throws {
        let clock = try KernelClock()
        try clock.set(maxError: 16_000_000, isUnsynchronized: true)
        #expect(!ClockDiscipline.isKept)
        try clock.set(maxError: 1_000, isUnsynchronized: true)
        #expect(ClockDiscipline.isKept && SystemClock.isSynchronized)
        withExtendedLifetime(clock) {}
    }

    @Test("a hardware clock counts if the kernel took the time from it, and if that is no time before this program")
    func hardware() throws {
        let root = makeDirectory("/tmp/wakebridge-rtc-XXXXXX")
        defer { Directory.removeTree(root) }
        let built = WallTime(microseconds: 1_700_000_000_000_000)
        func counts() -> Bool { HardwareClock.didSetWallClock(under: root, notBefore: built) }
        #expect(!counts() && !HardwareClock.didSetWallClock(under: "\(root)/nowhere", notBefore: nil))
        mkdir("\(root)/rtc0", 0o755)
        put("0\n", at: "\(root)/rtc0/hctosys")
        put("1700000001\n", at: "\(root)/rtc0/since_epoch")
        #expect(!counts(), "the kernel did not use it")
        put("1\n", at: "\(root)/rtc0/hctosys")
        #expect(counts())
        put("4711\n", at: "\(root)/rtc0/since_epoch")
        #expect(!counts(), "it has no battery, and began at its zero")
    }
}
