// The place of a handler's or device's entry in a table, by its small number: no hash is made for an event.

struct PlaceTable: Sendable {
    /// -1 where there is none.
    private var places: [Int32] = []

    subscript(_ number: UInt32) -> Int? {
        get {
            let index = Int(number)
            return index < places.count && places[index] >= 0 ? Int(places[index]) : nil
        }
        set {
            let index = Int(number)
            while places.count <= index { places.append(-1) }
            places[index] = newValue.map { Int32($0) } ?? -1
        }
    }
}
