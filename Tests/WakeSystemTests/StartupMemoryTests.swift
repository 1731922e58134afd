// What is given back after the start, and that nothing is missed.
import Testing
import WakeSystem

@Suite("Startup memory")
struct StartupMemoryTests {
    @Test("giving back what the start needed makes the process smaller, and its code goes on")
    func givesBack() throws {
        // Everything that the runner has loaded so far counts, which is megabytes; what others touch meanwhile is less.
        let before = MemoryPressure.ownResidentBytes
        MemoryPressure.releaseStartup()
        #expect(MemoryPressure.ownResidentBytes < before)
        #expect(try MemoryPressure.memory().total > 0)
    }
}
