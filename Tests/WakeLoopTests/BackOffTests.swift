// How long what has failed is waited for.
import Testing
import WakeLoop
import WakeModel

@Test("A back-off doubles up to its bound, and begins again once something has worked")
func backsOff() {
    var backOff = BackOff(from: .milliseconds(50), to: .milliseconds(300))
    #expect((0..<5).map { _ in backOff.next().wholeMilliseconds } == [50, 100, 200, 300, 300])
    backOff.reset()
    #expect((0..<2).map { _ in backOff.next().wholeMilliseconds } == [50, 100])
}
