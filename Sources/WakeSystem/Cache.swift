// Memory that is asked for before it is needed, so that much of it comes at once.
import CLinux

/// Hints, which return at once and change nothing that can be seen.
public enum Cache {
    /// - Parameter range: places in `bytes`.
    public static func fetch(_ range: Range<Int>, of bytes: [UInt8]) {
        clinux_fetch(bytes, range.lowerBound, range.count)
    }

    /// - Parameter index: of one element, which may stand on two lines of a cache.
    public static func fetch<Element: BitwiseCopyable>(_ index: Int, of elements: [Element]) {
        let stride = MemoryLayout<Element>.stride
        clinux_fetch(elements, index * stride, stride)
    }
}
