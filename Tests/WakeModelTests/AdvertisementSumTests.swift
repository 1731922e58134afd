// What several advertisements of one device are together.
import Testing
import WakeModel

@Suite("Sums of advertisements")
struct AdvertisementSumTests {
    private func sum(_ advertisements: String...) throws -> String {
        try advertisements.reduce([]) { sum, text in
            AdvertisementBytes.sum(of: sum, and: try #require([UInt8](hexadecimal: text)))
        }.hexadecimal
    }

    @Test("data of a scan response come behind the first advertisement, once for each company, service and length")
    func joins() throws {
        let first = "020106" + "03030a18"
        #expect(try sum(first) == first)
        #expect(try sum(first, "04ff88ec01", "04ff88ec02") == first + "04ff88ec01")
        #expect(
            try sum(first, "04ff88ec01", "05ff88ec0102", "04ff4c0001") == first + "04ff88ec01" + "05ff88ec0102"
                + "04ff4c0001")
        #expect(try sum("04ff88ec01", "0516d5fe0102", "04ff88ec03") == "04ff88ec01" + "0516d5fe0102")
    }

    @Test("names, flags and what is cut short add nothing, and zeros at the end do not hide what comes behind")
    func bounds() throws {
        #expect(try sum("020106", "030941420a", "05ff88") == "020106")
        #expect(try sum("0201060000", "04ff88ec01") == "02010604ff88ec01")
        #expect(try sum("0201060000", "020106") == "0201060000")
    }

    @Test("however many kinds a device sends, the sum has 512 bytes at most")
    func isBounded() throws {
        var sum: [UInt8] = []
        for company in 0..<1_000 {
            sum = AdvertisementBytes.sum(of: sum, and: [4, 0xff, UInt8(company & 255), UInt8(company >> 8), 1])
        }
        #expect(sum.count <= 512 && sum.count > 500)
    }
}
