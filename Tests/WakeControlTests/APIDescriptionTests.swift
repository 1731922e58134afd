// The API's description, held to the table of endpoints that it is composed of.
import TestBench
import Testing
import WakeModel

@testable import WakeAPI
@testable import WakeControl

@Suite("The API's description") struct APIDescriptionTests {
    private let document: JSONValue

    init() throws { document = try JSONValue(parsing: APIDescription.document(version: "1.2.3")) }

    private func members(_ value: JSONValue?) -> [(name: String, value: JSONValue)] {
        guard case .object(let members) = value else { return [] }
        return members.map { ($0.name, $0.value) }
    }

    @Test("has every address that is answered, with its method, and no other")
    func addresses() {
        let described = members(document["paths"]).flatMap { path in
            members(path.value).map { "\($0.name.uppercased()) \(path.name)" }
        }
        #expect(described.sorted() == API.endpoints.map { "\($0.route.method) \($0.templatedAddress)" }.sorted())
        #expect(described.contains("POST /v1/handlers/{id}/jobs/{job}/run"))
    }

    @Test("names each operation once, and says of each what it needs and which refusals may come")
    func operations() {
        let operations = members(document["paths"]).flatMap { members($0.value).map(\.value) }
        let names = operations.compactMap { $0["operationId"]?.string }
        #expect(Set(names).count == operations.count)
        for operation in operations {
            #expect(operation["summary"]?.string?.isEmpty == false && operation["description"] != nil)
            let done = operation["responses"]?["200"] ?? operation["responses"]?["201"]
            #expect(done?["content"] != nil)
            let isOpen = operation["security"]?.array?.isEmpty == true
            let open = ["Needs no token.", "Its address is the token."]
            #expect(isOpen == open.contains(operation["description"]?.string ?? ""))
        }
    }

    @Test("every form that is referred to is there, and every form that is there is referred to")
    func references() {
        let text = String(decoding: APIDescription.document(version: ""), as: UTF8.self)
        let named = Set(
            text.components(after: "\"#/components/schemas/").map { String($0.prefix { $0 != "\"" }) })
        let there = Set(members(document["components"]?["schemas"]).map(\.name))
        #expect(named == there)
    }

    @Test("a member whose name does not say it all is explained, where it is a schema of its own and where it is named")
    func explanations() {
        let schemas = document["components"]?["schemas"]
        let handler = schemas?["handler"]?["properties"]
        #expect(handler?["held_for_ms"]?["description"]?.string == "the rest of a penalty")
        #expect(handler?["work"]?["$ref"]?.string == "#/components/schemas/work")
        #expect(handler?["transfers"]?["properties"]?["done"]?["description"]?.string == "bytes")
        #expect(schemas?["entry"]?["properties"]?["next_chance"]?["description"] != nil)
    }

    @Test("what a shape writes has the members of its schema, with null only where the schema allows it")
    func shapes() throws {
        var writer = JSONWriter()
        HandlerReport(id: "a", state: "idle", why: "").write(into: &writer)
        let written = try JSONValue(parsing: writer.bytes)
        let schema = try #require(document["components"]?["schemas"]?["handler"])
        #expect(members(written).map(\.name) == members(schema["properties"]).map(\.name))
        #expect(schema["required"]?.array?.count == members(written).count)
        for (name, value) in members(written) where value == .null {
            #expect(schema["properties"]?[name]?["anyOf"] != nil, "\(name)")
        }
    }

    @Test("an unknown key is refused by every address that has a body, and the refusal names a key of its table")
    func bodies() {
        for endpoint in API.endpoints where endpoint.route.method == "POST" && !endpoint.takesBytes {
            let path = endpoint.route.path.map { $0.allSatisfy(\.isUppercase) ? "a" : $0 }
            var request = ControlRequest(method: "POST", path: path, body: Array("{\"no such key\":1}".utf8))
            request.access = .role(.pair)
            do {
                _ = try API.read(request)
                Issue.record("\(endpoint.route.address) takes any key")
            } catch {
                #expect(error.code == "unknown-key", "\(endpoint.route.address)")
                if let key = endpoint.body.first { #expect(error.advice.contains(key.name), "\(error.advice)") }
            }
        }
    }
}

extension String {
    fileprivate func components(after mark: String) -> [Substring] {
        var found: [Substring] = []
        var rest = self[...]
        while let place = rest.firstRange(of: mark) {
            rest = rest[place.upperBound...]
            found.append(rest)
        }
        return found
    }
}
