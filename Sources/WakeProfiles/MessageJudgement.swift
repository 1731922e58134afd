// Whether a message of a channel is damaged, by the check that its profile or its named decoder knows.
import WakeModel

extension ChannelProgram: MessageJudge {
    /// Whether some of its messages carry a check.
    var hasCheck: Bool {
        check != nil || !program.checks.isEmpty || NamedDecoder.checking.contains { program.names($0) }
    }

    /// Other faults show no damage: a device may send messages that its profile does not know.
    func isDamaged(_ message: [UInt8]) -> Bool {
        do throws(DecodeFault) {
            let checked = try checked(message)
            guard !program.checks.isEmpty || program.handsOver else { return false }
            var scratch: [UInt8] = []
            guard case .handedOver(let name, let from, let to) = try program.run(over: checked, into: &scratch) else {
                return false
            }
            return name.isDamaged(checked[from..<to])
        } catch {
            switch error {
            case .noCheck, .wrongCheck: return true
            default: return false
            }
        }
    }
}

extension NamedDecoder {
    /// Their messages carry a check of their own.
    fileprivate static let checking: [NamedDecoder] = [.ais, .sml]

    fileprivate func isDamaged(_ message: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .ais: (try? AISSentence(Array(message))) == nil
        case .sml: !SMLStream.isWhole(Array(message))
        case .bthome, .mibeacon, .victron, .ruuvi8, .midi, .wedge, .hidPower: false
        }
    }
}
