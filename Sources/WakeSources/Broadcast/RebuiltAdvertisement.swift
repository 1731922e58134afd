// An advertisement as far as bluetoothd tells of it: AD structures made again of a peripheral's data, where the bytes themselves
// cannot be had.
import WakeModel
import WakeProfiles

/// Which data of a peripheral were in the advertisement that was heard last. Bluetoothd tells the sum of all that it ever heard, and
/// of that what is new, or has another value, is the news.
public struct AdvertisedNews: Hashable, Sendable {
    var companies: Set<UInt16> = []
    var services: Set<BluetoothUUID> = []

    var isEmpty: Bool { companies.isEmpty && services.isEmpty }
}

extension BluezPeripheral {
    /// All that it ever said, by which it is known: service data by UUID, then manufacturer data by company, so that the same data
    /// are always the same bytes; nil without any.
    public var advertisement: [UInt8]? {
        guard !serviceData.isEmpty || !manufacturerData.isEmpty else { return nil }
        return rebuilt(AdvertisedNews(companies: Set(manufacturerData.keys), services: Set(serviceData.keys)))
    }

    /// Its newest data; empty if the sum shows only that it sent something again. Nil if it never sent any.
    public var newestAdvertisement: [UInt8]? {
        serviceData.isEmpty && manufacturerData.isEmpty ? nil : rebuilt(news)
    }

    private func rebuilt(_ parts: AdvertisedNews) -> [UInt8] {
        var bytes: [UInt8] = []
        for (uuid, data) in serviceData.sorted(by: { ($0.key.high, $0.key.low) < ($1.key.high, $1.key.low) })
        where parts.services.contains(uuid) {
            bytes += AdvertisementPart.serviceData(uuid).structure(with: data)
        }
        for (company, data) in manufacturerData.sorted(by: { $0.key < $1.key }) where parts.companies.contains(company)
        {
            bytes += AdvertisementPart.manufacturerData(company).structure(with: data)
        }
        return bytes
    }

    /// Notes what is news since the data were those of `former`. Where nothing is, all that was news may have been said again, unless it
    /// was a part: then it may have been another.
    mutating func noteNews(since former: BluezPeripheral) {
        let companies = manufacturerData.filter { former.manufacturerData[$0.key] != $0.value }.map(\.key)
        let services = serviceData.filter { former.serviceData[$0.key] != $0.value }.map(\.key)
        let found = AdvertisedNews(companies: Set(companies), services: Set(services))
        if !found.isEmpty {
            news = found
        } else if news.companies.count < manufacturerData.count || news.services.count < serviceData.count {
            news = AdvertisedNews()
        }
    }

    /// What bluetoothd remembers may be the sum of many advertisements: of two values of one kind none is known to be the newest.
    mutating func doubtNews() {
        if manufacturerData.count > 1 || serviceData.count > 1 { news = AdvertisedNews() }
    }
}
