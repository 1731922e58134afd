// The environment variables of this process.
import Glibc

public enum Environment {
    /// Nil where the variable is unset or empty.
    public static func value(of name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
