// A count with its noun, in the singular or plural.

extension Int {
    /// `1 link`, `3 links`.
    public func counted(_ noun: String) -> String { self == 1 ? "1 \(noun)" : "\(self) \(noun)s" }
}
