// The page as the API's server takes it.
import WakeControl

package struct ServedPage: PageFiles {
    package init() {}

    package func file(at path: String) -> PageFile? {
        guard let asset = Page.asset(for: path) else { return nil }
        return PageFile(
            type: asset.contentType, bytes: asset.bytes, gzip: asset.gzip, entityTag: asset.entityTag,
            cacheControl: asset.cacheControl, policy: Page.securityPolicy)
    }
}
