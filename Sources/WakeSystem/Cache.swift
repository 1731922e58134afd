// Memory that is asked for before it is needed, so that much of it comes at once.
import CLinux

public enum Cache {
    public static func fetch(_ range: Range<Int>, of bytes: [UInt8]) {
        clinux_fetch(bytes, range.lowerBound, range.count)
    }

    public static func fetch<Element: BitwiseCopyable>(_ index: Int, of elements: [Element]) {
        let stride = MemoryLayout<Element>.stride
        clinux_fetch(elements, index * stride, stride)
    }
}
