// Makes one fault on purpose, named by its argument: a sanitizer that says nothing of it can be believed in nothing else.
import Glibc
import PlantedFaults

/// Which the two threads of the race in Swift count up.
nonisolated(unsafe) var shared = 0

func readFreed() -> Int {
    let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    number.initialize(to: 1)
    number.deallocate()
    return number.pointee
}

func counting() -> pthread_t {
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { _ in
            for _ in 0..<1000 { shared += 1 }
            return nil
        }, nil)
    return thread
}

func race() -> Int {
    let threads = [counting(), counting()]
    for thread in threads { pthread_join(thread, nil) }
    return shared
}

switch CommandLine.arguments.dropFirst().first {
case "freed-c": print(planted_use_after_free())
case "freed-swift": print(readFreed())
case "overflow-c": print(planted_overflow(1))
case "race-c": print(planted_race())
case "race-swift": print(race())
default: exit(64)
}
