// A QR code in a terminal: two modules in each character, light ones drawn, as most terminals are dark.
import CQRCode

struct QRCode {
    private let modules: [UInt8]
    private let side: Int

    /// The quiet space that readers need around the code, in modules.
    private static let margin = 4
    private static let mostModules = 177 * 177

    /// Nil where libqrencode is not installed.
    init?(_ text: String) {
        var space = [UInt8](repeating: 0, count: Self.mostModules)
        let side = Int(wake_qr_encode(text, &space, space.count))
        guard side > 0 else { return nil }
        self.side = side
        modules = Array(space.prefix(side * side))
    }

    var text: String {
        let places = -Self.margin..<(side + Self.margin)
        return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { row in
            places.map { half(isLight(row, $0), isLight(row + 1, $0)) }.joined() + "\n"
        }.joined()
    }

    private func isLight(_ row: Int, _ column: Int) -> Bool {
        guard (0..<side).contains(row), (0..<side).contains(column) else { return row < side + Self.margin }
        return modules[row * side + column] == 0
    }

    private func half(_ upper: Bool, _ lower: Bool) -> String {
        switch (upper, lower) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
    }
}
