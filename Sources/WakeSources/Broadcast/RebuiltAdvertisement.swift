// An advertisement as far as bluetoothd tells of it: AD structures made again of a peripheral's data, where the bytes themselves
// cannot be had.
import WakeModel
import WakeProfiles

extension BluezPeripheral {
    /// Service data by UUID, then manufacturer data by company, so that the same data are always the same bytes; nil without any.
    public var advertisement: [UInt8]? {
        guard !serviceData.isEmpty || !manufacturerData.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for (uuid, data) in serviceData.sorted(by: { ($0.key.high, $0.key.low) < ($1.key.high, $1.key.low) }) {
            bytes += AdvertisementPart.serviceData(uuid).structure(with: data)
        }
        for (company, data) in manufacturerData.sorted(by: { $0.key < $1.key }) {
            bytes += AdvertisementPart.manufacturerData(company).structure(with: data)
        }
        return bytes
    }
}
