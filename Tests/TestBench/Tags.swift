// The tags of tests that Scripts/test.py runs apart from the others; it looks for them in each file of tests.
import Testing

extension Tag {
    /// Measures time, processor, system calls or descriptors, so nothing else may run meanwhile.
    @Tag package static var measures: Self
    /// Needs minutes, the lab or a browser, so `make test` leaves it out and `make prove` runs it.
    @Tag package static var fullScale: Self
    /// With the tag above: the gate runs it too.
    @Tag package static var gate: Self
    /// Counts on a program that is not ours: a guest, a browser, a broker. A file that fails is run once more; see Scripts/test.py.
    @Tag package static var outside: Self
}
