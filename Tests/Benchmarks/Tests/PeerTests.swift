// What the benchmark is compared with: one bleak in both places that measure it. And the profiles it names are shipped.
import TestBench
import Testing
import WakeSystem

@Suite("What the benchmarks are compared with")
struct PeerTests {
    private func packages(of file: String) throws -> Set<Substring> {
        Set(try Document(file).text.split(separator: "\n").filter { !$0.hasPrefix("#") })
    }

    @Test("bleak, and what carries its messages, are those of the lab")
    func pins() throws {
        let ours = try packages(of: "Tests/Benchmarks/Peers/requirements.txt").filter { pin in
            ["bleak==", "dbus-fast=="].contains { pin.hasPrefix($0) }
        }
        #expect(ours.count == 2)
        #expect(ours.isSubset(of: try packages(of: "Tests/Lab/requirements.txt")))
    }

    @Test("the profiles that a measurement names are shipped")
    func profiles() throws {
        for file in ["StartFigures.swift", "BroadcastFigures.swift"] {
            let text = try File.text(at: "\(packageFolder)/Tests/Benchmarks/Suite/\(file)")
            let named = text.split(separator: "\"").filter { word in
                word.contains("-") && word.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }
            }
            #expect(!named.isEmpty)
            for name in named {
                #expect(File.exists("\(packageFolder)/Devices/\(name)/profile.json5"), "\(file): \(name)")
            }
        }
    }
}
