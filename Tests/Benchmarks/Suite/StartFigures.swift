// How long the daemon takes to be ready: with profiles of one's own, each read whole, and with those that are shipped,
// of which it reads what is matched against.
import BenchmarkReport
import WakeModel
import WakeSystem

struct StartFigures {
    private static let starts = 20
    /// What ten handlers of the last row watch: a profile each.
    private static let watched = [
        "heart-rate-monitor", "ruuvitag", "bthome-sensor", "jbd-bms", "govee-h5075", "cycling-power", "weight-scale",
        "pulse-oximeter", "environmental-sensor", "switchbot-meter",
    ]

    /// One kind of start, and what came of it.
    private struct Row {
        let name: String
        let program: String
        let makeFolder: () throws -> DaemonFolder
        var times: [Double] = []
        var memories: [Memory] = []

        mutating func start() throws {
            let folder = try makeFolder()
            defer { folder.remove() }
            let daemon = try RunningDaemon(folder, program: program)
            times.append(daemon.readyAfter.seconds * 1000)
            RealTime.pass(.milliseconds(100))
            memories.append(Memory(of: daemon.pid))
            daemon.end()
        }
    }

    func measure() throws -> Suite.Findings {
        let some = try InstalledPlace(profiles: 120, with: Self.watched)
        defer { some.remove() }
        let all = try InstalledPlace(profiles: nil)
        defer { all.remove() }
        var rows = Self.rows(some, all)
        for _ in 0..<Self.starts {
            for place in rows.indices { try rows[place].start() }
        }
        return Suite.Findings(sections: [Self.section(rows)])
    }

    private static func rows(_ some: InstalledPlace, _ all: InstalledPlace) -> [Row] {
        let same = Array(repeating: #"{ profile: "heart-rate-monitor" }"#, count: 10)
        let different = watched.map { #"{ profile: "\#($0)" }"# }
        return [
            Row(name: "50 of one's own", program: some.program) { try DaemonFolder(profiles: 50, handlers: 10) },
            Row(name: "\(some.count) shipped", program: some.program) { try DaemonFolder(watching: same) },
            Row(name: "\(all.count) shipped, the whole library", program: all.program) {
                try DaemonFolder(watching: same)
            },
            Row(name: "\(all.count) shipped, ten of them watched", program: all.program) {
                try DaemonFolder(watching: different)
            },
        ]
    }

    private static func section(_ rows: [Row]) -> Section {
        let times = rows.map { row in row.times.map { [$0] } }
        let starts = rows.enumerated().map { place, row in
            Figure.sampled(
                "exec to ready, \(row.name)", .milliseconds, [row.times], goal: place == 0 ? .atMost(15) : nil)
        }
        let ratios = rows.indices.dropFirst().map { place in
            Figure.ratio("\(rows[place].name) / \(rows[0].name)", of: times[place], to: times[0], goal: .atMost(1))
        }
        let memories = rows.flatMap { row -> [Figure] in
            [
                .valued("resident, \(row.name)", .megabytes, row.memories.map(\.resident)),
                .valued("of that anonymous", .megabytes, row.memories.map(\.anonymous)),
            ]
        }
        return Section(
            "start",
            method: """
                wakebridged with 10 handlers, which watch one profile unless said, exec to READY=1; \(starts.count) \
                kinds of start in turn, \(Self.starts) times; ratios by turn
                """, starts + ratios + memories)
    }
}

/// The daemon and profiles as an installation has them: the daemon takes those beside it for shipped.
private struct InstalledPlace {
    let path: String
    let count: Int
    var program: String { path + "/bin/wakebridged" }

    /// - Parameter profiles: how many; nil for all that there are.
    init(profiles: Int?, with wanted: [String] = []) throws {
        path = try MemoryFolder.make()
        let (shipped, place) = (try Places.checkout() + "/Devices", path + "/share/wakebridge/Devices")
        let all = try Directory.names(in: shipped).sorted().filter {
            $0 != "gatt" && !$0.hasPrefix("example") && File.exists("\(shipped)/\($0)/profile.json5")
        }
        let chosen = (wanted + all.filter { !wanted.contains($0) }).prefix(profiles ?? all.count)
        count = chosen.count
        try Directory.create(path + "/bin")
        try File.replace(program, with: try File.bytes(at: Places.sibling("wakebridged")), mode: 0o755)
        try Directory.create(place)
        for name in chosen { try Self.copy(["profile.json5"], of: name, from: shipped, to: place) }
        try Self.copy(try Directory.names(in: shipped + "/gatt"), of: "gatt", from: shipped, to: place)
    }

    private static func copy(_ files: [String], of name: String, from: String, to place: String) throws {
        try Directory.create("\(place)/\(name)")
        for file in files {
            let bytes = try File.bytes(at: "\(from)/\(name)/\(file)")
            try File.replace("\(place)/\(name)/\(file)", with: bytes, mode: 0o644)
        }
    }

    func remove() { Directory.removeTree(path) }
}
