// The report as one JSON value: every figure with its unit, its rounds, its goal and whether that is met.
import WakeModel

public enum JSONReport {
    public static func written(_ report: Report) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("date", report.date)
            writer.key("machine")
            write(report.machine, &writer)
            writer.key("sections")
            writer.array(report.sections) { section, writer in write(section, &writer) }
        }
        writer.newline()
        return writer.bytes
    }

    private static func write(_ machine: Machine, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("processor", machine.processor)
            writer.field("cores", machine.cores)
            writer.field("memory_mb", machine.memoryMegabytes)
            writer.field("kernel", machine.kernel)
            writer.key("load_before")
            writer.number(machine.loadBefore)
            writer.key("load_after")
            writer.number(machine.loadAfter)
        }
    }

    private static func write(_ section: Section, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("title", section.title)
            writer.field("method", section.method)
            writer.key("figures")
            writer.array(section.figures) { figure, writer in write(figure, &writer) }
        }
    }

    private static func write(_ figure: Figure, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", figure.name)
            writer.field("unit", figure.unit.rawValue)
            switch figure.outcome {
            case .measured(let measured): write(measured, &writer)
            case .missing(let reason): writer.field("missing", reason)
            }
            if let goal = figure.goal { write(goal, figure.isGoalMet, &writer) }
            if let note = figure.note { writer.field("note", note) }
        }
    }

    private static func write(_ measured: Measured, _ writer: inout JSONWriter) {
        writer.key("median")
        writer.number(measured.median)
        writer.key("p99")
        writer.number(orNull: measured.p99)
        writer.key("rounds")
        writer.array(measured.rounds) { round, writer in
            writer.object { writer in
                writer.key("median")
                writer.number(round.median)
                writer.key("p99")
                writer.number(orNull: round.p99)
            }
        }
    }

    private static func write(_ goal: Goal, _ isMet: Bool?, _ writer: inout JSONWriter) {
        writer.key("goal")
        writer.object { writer in
            switch goal.bound {
            case .atMost(let value):
                writer.key("at_most")
                writer.number(value)
            case .atLeast(let value):
                writer.key("at_least")
                writer.number(value)
            }
            writer.field("of", goal.quantile.rawValue)
            if let isMet { writer.field("met", isMet) }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    fileprivate mutating func array<Element>(_ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        beginArray()
        for element in elements { write(element, &self) }
        endArray()
    }

    fileprivate mutating func number(orNull value: Double?) {
        if let value { number(value) } else { null() }
    }
}
