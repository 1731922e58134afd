// An advertisement as far as bluetoothd reports it: AD structures rebuilt from a peripheral's data, where the original
// bytes cannot be had.
import WakeModel
import WakeProfiles

/// The data of a peripheral that the latest advertisement contained. Bluetoothd reports the sum of all data; the part
/// that is new, or has another value, is the news.
public struct AdvertisedNews: Hashable, Sendable {
    var companies: Set<UInt16> = []
    var services: Set<BluetoothUUID> = []

    var isEmpty: Bool { companies.isEmpty && services.isEmpty }
}

extension BluezPeripheral {
    /// All data that it ever sent, by which it is known: service data by UUID, then manufacturer data by company. The
    /// same data are always the same bytes; nil without any.
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

    /// Records the news since the data were those of `former`. If there is none, all of the former news may have been
    /// sent again. If that was only a part, the part may have been another.
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

    /// Bluetoothd may remember the sum of many advertisements: of two values of one kind none is known to be the
    /// newest.
    mutating func doubtNews() {
        if manufacturerData.count > 1 || serviceData.count > 1 { news = AdvertisedNews() }
    }
}
