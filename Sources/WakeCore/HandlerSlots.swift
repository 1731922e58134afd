// Which place in the dispatcher is whose.
import WakeModel

/// Where each handler stands. A handler's number is small, so that no hash is made on the way of an event.
struct HandlerSlots: Sendable {
    private var places: [Int?] = []

    subscript(_ handler: HandlerID) -> Int? {
        get {
            let index = Int(handler.rawValue)
            return index < places.count ? places[index] : nil
        }
        set {
            let index = Int(handler.rawValue)
            while places.count <= index { places.append(nil) }
            places[index] = newValue
        }
    }
}
