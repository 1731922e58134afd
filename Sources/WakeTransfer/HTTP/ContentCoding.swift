// The label Content-Encoding of an answer to an identity request: whether the bytes are the file all the same.
import WakeModel

/// A compression that HTTP has a name for. Any other label, such as `none` or `utf-8`, compresses nothing.
enum ContentCoding: Hashable, Sendable {
    case gzip, compress, deflate, brotli, zstandard

    init?(_ label: String) {
        switch label {
        case "gzip", "x-gzip": self = .gzip
        case "compress", "x-compress": self = .compress
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstandard
        default: return nil
        }
    }

    /// The last labels of names of files that are compressed so.
    private var endings: [String] {
        switch self {
        case .gzip: ["gz", "tgz", "taz", "svgz", "emz", "wmz"]
        case .compress: ["z", "taz"]
        case .deflate: []
        case .brotli: ["br"]
        case .zstandard: ["zst", "zstd", "tzst"]
        }
    }

    private var mediaTypes: [String] {
        switch self {
        case .gzip:
            [
                "application/gzip", "application/x-gzip", "application/x-tgz", "application/x-gtar",
                "application/x-gunzip",
            ]
        case .compress: ["application/x-compress", "application/x-compressed"]
        case .deflate: []
        case .brotli: ["application/x-brotli"]
        case .zstandard: ["application/zstd", "application/x-zstd"]
        }
    }

    /// Whether the label only means that the file itself is compressed, as servers send that know it by its name.
    func isOfFile(at address: String, ofType mediaType: String) -> Bool {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        return endings.contains(ending.lowercased()) || mediaTypes.contains(mediaType)
    }
}
