// Everything that one run found: the machine, sections of figures, and what of it is drawn.

public struct Section: Hashable, Sendable {
    public let title: String
    /// How it was measured, in a sentence.
    public let method: String
    public var figures: [Figure]

    public init(_ title: String, method: String, _ figures: [Figure]) {
        self.title = title
        self.method = method
        self.figures = figures
    }
}

public struct Machine: Hashable, Sendable {
    public let processor: String
    public let cores: Int
    public let memoryMegabytes: Int
    public let kernel: String
    /// The load average of the last minute, before the run and after it: more than nothing before it means company.
    public let loadBefore: Double
    public var loadAfter: Double

    public init(
        processor: String, cores: Int, memoryMegabytes: Int, kernel: String, loadBefore: Double, loadAfter: Double
    ) {
        self.processor = processor
        self.cores = cores
        self.memoryMegabytes = memoryMegabytes
        self.kernel = kernel
        self.loadBefore = loadBefore
        self.loadAfter = loadAfter
    }
}

public struct Report: Hashable, Sendable {
    /// RFC 3339.
    public let date: String
    public var machine: Machine
    public var sections: [Section] = []
    public var charts: [Chart] = []

    public init(date: String, machine: Machine) {
        self.date = date
        self.machine = machine
    }
}
