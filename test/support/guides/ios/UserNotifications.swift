// What the guide's app needs of UserNotifications: somebody who grants what they are asked for, and taps.
import Foundation

public struct UNAuthorizationOptions: OptionSet {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let badge = UNAuthorizationOptions(rawValue: 1)
    public static let sound = UNAuthorizationOptions(rawValue: 2)
    public static let alert = UNAuthorizationOptions(rawValue: 4)
}

public struct UNNotificationResponse {
    public let notification: UNNotification
}

public struct UNNotification {
    public let request: UNNotificationRequest
}

public struct UNNotificationRequest {
    public let content: UNNotificationContent
}

public struct UNNotificationContent {
    public let userInfo: [AnyHashable: Any]
}

public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async
}

public final class UNUserNotificationCenter {
    private static let only = UNUserNotificationCenter()

    public weak var delegate: UNUserNotificationCenterDelegate?

    public static func current() -> UNUserNotificationCenter { only }

    public func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool {
        let known: KeyValuePairs = ["alert": UNAuthorizationOptions.alert, "sound": .sound, "badge": .badge]
        print("asked for", known.filter { options.contains($0.value) }.map(\.key).joined(separator: ", "))
        return true
    }

    /// The user taps a notification with this in its payload.
    public func tap(url: String) async {
        let content = UNNotificationContent(userInfo: ["url": url])
        let notification = UNNotification(request: UNNotificationRequest(content: content))
        await delegate?.userNotificationCenter(self, didReceive: UNNotificationResponse(notification: notification))
    }
}
