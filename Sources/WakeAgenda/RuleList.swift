// Reads the rules that a manifest lists under one key, and reports the faults of all of them together.
import WakeModel

extension JSONValue {
    /// Each value as `read` makes a rule of it beside those before it.
    func rules<Rule>(
        of key: String, as what: String = "a list", advice: String,
        _ read: (JSONValue, [Rule]) throws(ProtocolFault) -> Rule
    ) throws(ProtocolFault) -> [Rule] {
        guard let values = array else {
            throw .malformed("\"\(key)\" must be \(what); got \(excerpt).", advice: advice)
        }
        var rules: [Rule] = []
        var faults: [ProtocolFault] = []
        for value in values {
            do throws(ProtocolFault) { rules.append(try read(value, rules)) } catch { faults.append(error) }
        }
        if let first = faults.first { throw first.beside(faults.dropFirst()) }
        return rules
    }
}
