// The tags of tests that Scripts/test.py runs apart from the others; it looks for them in each file of tests.
import Testing

extension Tag {
    /// Measures time, processor, system calls or descriptors, so nothing else may run meanwhile.
    @Tag package static var measures: Self
    /// Needs minutes or the lab, so only the whole gate runs it.
    @Tag package static var fullScale: Self
    /// Of these, what a busy machine only makes longer: it runs beside others of its kind.
    @Tag package static var unhurried: Self
}
