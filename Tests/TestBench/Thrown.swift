// The error of a call that must fail: `#expect(throws:)` hands it back only from Swift 6.1 on.
import Testing

package func thrown<Failure: Error, Value>(
    _ type: Failure.Type, at location: SourceLocation = #_sourceLocation, by body: () throws -> Value
) -> Failure? {
    do {
        _ = try body()
        Issue.record("nothing was thrown", sourceLocation: location)
    } catch let error as Failure {
        return error
    } catch {
        Issue.record("thrown was \(error), not a \(type)", sourceLocation: location)
    }
    return nil
}
