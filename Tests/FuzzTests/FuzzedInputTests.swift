// What was fuzzed, read without the fuzzer: the inputs that once ended a reader, and those that fuzzing begins with.
import FuzzTargets
import TestBench
import Testing

private let folder = "\(packageFolder)/Tests/Fuzz"

/// The inputs that are kept for a reader, by their names.
private func inputs(of reader: String, in kind: String) -> [(name: String, bytes: [UInt8])] {
    let place = "\(folder)/\(kind)/\(reader)"
    return names(in: place).sorted().map { ($0, bytes(of: "\(place)/\($0)")) }
}

@Suite("Fuzzed inputs") struct FuzzedInputTests {
    private static let readers = FuzzTable.all.map(\.name)

    @Test("an input that once ended a reader of bytes from outside is read to its end", arguments: readers)
    func keptInputs(name: String) throws {
        let reader = try #require(FuzzTable.reader(named: name))
        for input in inputs(of: name, in: "crashes") { _ = reader.read(input.bytes) }
    }

    @Test("every reader reads what its fuzzing begins with: whole, cut short, and spoilt", arguments: readers)
    func seeds(name: String) throws {
        let reader = try #require(FuzzTable.reader(named: name))
        let seeds = inputs(of: name, in: "seeds")
        #expect(!seeds.isEmpty)
        for made in try reader.beginnings() { #expect(reader.accepts(made)) }
        for seed in seeds {
            #expect(reader.accepts(seed.bytes), "\(seed.name) is an input of another reader, or of none")
            let step = max(1, seed.bytes.count / 48)
            for place in stride(from: 0, to: seed.bytes.count, by: step) {
                _ = reader.read(Array(seed.bytes[..<place]))
                var spoilt = seed.bytes
                spoilt[place] = ~spoilt[place]
                _ = reader.read(spoilt)
            }
        }
    }

    @Test("each reader has one name, and inputs are kept for readers alone")
    func namesReaders() {
        #expect(Set(Self.readers).count == Self.readers.count)
        for kind in ["seeds", "crashes"] {
            let kept = Set(names(in: "\(folder)/\(kind)"))
            #expect(kept.isSubset(of: Self.readers), "\(kind)")
        }
    }
}
