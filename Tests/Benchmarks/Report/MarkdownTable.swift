// The report as the documentation shows it: one Markdown table a section.

public enum MarkdownTable {
    public static func written(_ report: Report) -> String {
        report.sections.map(written).joined(separator: "\n")
    }

    static func written(_ section: Section) -> String {
        let opening = "### \(section.title.capitalizedFirst)\n\n\(section.method.capitalizedFirst).\n\n"
        let head = "| figure | median | p99 | unit | goal | met |\n|---|---|---|---|---|---|\n"
        let notes = section.figures.compactMap { figure in
            TextTable.note(figure).map { "- \($0.drop { $0 == " " })\n" }
        }
        let rows = section.figures.map { "| " + TextTable.row($0).joined(separator: " | ") + " |\n" }
        return opening + head + rows.joined() + (notes.isEmpty ? "" : "\n" + notes.joined())
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
