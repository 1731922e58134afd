// What the environment says that this process was started in.
import Glibc

public enum Environment {
    /// Nil for what is unset or empty.
    public static func value(of name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
