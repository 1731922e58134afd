// Prefetches memory before it is needed, so that several cache lines load at once.
import CLinux

/// Hints that return at once and have no visible effect.
public enum Cache {
    /// - Parameter range: offsets in `bytes`.
    public static func fetch(_ range: Range<Int>, of bytes: [UInt8]) {
        clinux_fetch(bytes, range.lowerBound, range.count)
    }

    /// - Parameter index: the index of one element, which may be on two cache lines.
    public static func fetch<Element: BitwiseCopyable>(_ index: Int, of elements: [Element]) {
        let stride = MemoryLayout<Element>.stride
        clinux_fetch(elements, index * stride, stride)
    }
}
