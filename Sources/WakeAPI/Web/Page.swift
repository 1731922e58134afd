// The page that the daemon shows to browsers: which files it is made of, under which addresses, and how long each may be kept.
import WakeControl
import WakeModel
import WakeSystem

enum Page {
    struct Asset: Hashable, Sendable {
        var contentType: String
        var bytes: [UInt8]
        /// The same for a browser that accepts gzip; empty where it could not be compressed.
        var gzip: [UInt8]
        /// In quotes, as the header ETag has it.
        var entityTag: String
        /// Its address depends on its content, so it never has to be requested again.
        var isImmutable: Bool

        /// The value of the header Cache-Control.
        var cacheControl: String { isImmutable ? "public, max-age=31536000, immutable" : "no-cache" }
    }

    /// The header Content-Security-Policy: the page loads nothing from elsewhere, and no other page frames it.
    static let securityPolicy =
        "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"

    /// - Parameter path: what follows the prefix, with or without a slash in front.
    static func asset(for path: String) -> Asset? {
        let name = String(path.drop { $0 == "/" })
        return assets[name.isEmpty ? document : name]
    }

    private static let document = "index.html"
    /// The document's placeholder for the folder that all other files are in.
    private static let folderMark = "{folder}"

    /// All files but the document are in a folder named by a digest of their bytes, so modules find each other there.
    private static let assets: [String: Asset] = {
        let files = EmbeddedFile.all.sorted { $0.name < $1.name }
        let folder = folderName(of: files.flatMap { [Array($0.name.utf8), $0.bytes] })
        let pairs = files.map { file in
            let isDocument = file.name == document
            let text = String(decoding: file.bytes, as: UTF8.self)
            let bytes = isDocument ? Array(text.replacing(folderMark, with: folder).utf8) : file.bytes
            let asset = Asset(
                contentType: contentType(of: file.name), bytes: bytes, gzip: bytes.gzipped, entityTag: "\"\(folder)\"",
                isImmutable: !isDocument)
            return (isDocument ? document : "\(folder)/\(file.name)", asset)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    static func folderName(of parts: [[UInt8]]) -> String {
        var hash = FNV1a()
        for part in parts {
            hash.add(part)
            // Between two parts, or "ab" and "c" would be "a" and "bc"; no text of the page holds it.
            hash.add(0xff)
        }
        return hash.value.hexadecimal
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}
