// The page as the program carries it: which files, under which addresses, and how much of them goes over the wire.
import TestBench
import Testing
import WakeSystem

@testable import WakeAPI

private let folder = "\(packageFolder)/Web"

@Suite("The page within the program") struct PageTests {
    /// What stands between two texts, each time it does.
    private func pieces(of text: String, between start: String, and end: String) -> [String] {
        text.split(separator: start, omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            rest.split(separator: end, omittingEmptySubsequences: false).first.map(String.init)
        }
    }

    private func document() throws -> String {
        String(decoding: try #require(Page.asset(for: "")).bytes, as: UTF8.self)
    }

    /// The folder of all files but the document.
    private func assetFolder() throws -> String {
        let addresses = pieces(of: try document(), between: "href=\"", and: "\"")
        return try #require(addresses.first?.split(separator: "/").first.map(String.init))
    }

    @Test("every file of the folder is in the program, byte for byte, and no other")
    func isWhole() {
        let embedded = EmbeddedFile.all
        #expect(embedded.map(\.name).sorted() == names(in: folder))
        for file in embedded { #expect(file.bytes == bytes(of: "\(folder)/\(file.name)"), "\(file.name)") }
    }

    @Test("every file that the document or a module names is served, and every module is named by one")
    func namesExist() throws {
        let place = try assetFolder()
        let addresses = ["href=\"", "src=\""].flatMap { pieces(of: (try? document()) ?? "", between: $0, and: "\"") }
        #expect(addresses.count > 5)
        for address in addresses { #expect(Page.asset(for: address) != nil, "\(address)") }
        var named = Set(addresses)
        for name in names(in: folder) where name.hasSuffix(".js") {
            for module in pieces(of: text(of: "\(folder)/\(name)"), between: "from \"./", and: "\"") {
                named.insert("\(place)/\(module)")
                #expect(Page.asset(for: "\(place)/\(module)") != nil, "\(name) imports \(module)")
            }
        }
        for name in names(in: folder) where name != "index.html" {
            #expect(named.contains("\(place)/\(name)"), "\(name)")
        }
    }

    @Test("the document is found at the prefix itself, and asked for each time; the rest is kept for ever")
    func keeps() throws {
        let page = try #require(Page.asset(for: "/"))
        #expect(page == Page.asset(for: "") && page == Page.asset(for: "index.html"))
        #expect(!page.isImmutable && page.cacheControl == "no-cache" && page.contentType == "text/html; charset=utf-8")
        let module = try #require(Page.asset(for: "/\(try assetFolder())/main.js"))
        #expect(module.isImmutable && module.cacheControl == "public, max-age=31536000, immutable")
        #expect(module.contentType == "text/javascript; charset=utf-8")
        #expect(page.entityTag.hasPrefix("\"") && page.entityTag.hasSuffix("\"") && page.entityTag.count == 18)
    }

    @Test(
        "what is no file of the page is not served",
        arguments: ["main.js", "x/main.js", "../page.c", "v1/status", "%2e"])
    func refuses(path: String) { #expect(Page.asset(for: path) == nil) }

    @Test("the folder's name changes with any byte of any file, and with its name")
    func fingerprints() {
        let parts: [[[UInt8]]] = [[[1, 2], [3]], [[1], [2, 3]], [[1, 2], [4]], [[1, 2, 3]], []]
        let names = parts.map { Page.folderName(of: $0) }
        #expect(Set(names).count == names.count && names.allSatisfy { $0.count == 16 })
    }

    @Test("gunzip reads what was compressed, and all of it together is at most 60 KB")
    func isSmall() throws {
        let place = try assetFolder()
        let directory = try Directory.makeTemporary(prefix: "wakebridge-page")
        defer { Directory.removeTree(directory) }
        var total = 0
        for name in names(in: folder) {
            let asset = try #require(Page.asset(for: name == "index.html" ? name : "\(place)/\(name)"))
            total += asset.gzip.count
            put(asset.gzip, at: "\(directory)/\(name).gz")
            #expect(try Child(["gunzip", "\(directory)/\(name).gz"]).finish().exit == 0)
            #expect(bytes(of: "\(directory)/\(name)") == asset.bytes)
        }
        print("the page: \(total) bytes over the wire, in \(names(in: folder).count) files")
        #expect(total > 0 && total <= 60 * 1024)
    }

    @Test("nothing of the page is asked for elsewhere, and the document holds no script and no style of its own")
    func isAlone() throws {
        for name in names(in: folder) {
            let text = text(of: "\(folder)/\(name)").replacing("http://www.w3.org/2000/svg", with: "")
            #expect(!text.contains("http://") && !text.contains("https://") && !text.contains("\"/v1"), "\(name)")
        }
        let document = try document()
        for inline in ["<style", " style=", "onclick=", "<script>"] { #expect(!document.contains(inline)) }
        #expect(Page.securityPolicy.hasPrefix("default-src 'self';") && !Page.securityPolicy.contains("unsafe"))
    }
}
