// What the guide's app needs of UIKit: the one application, on a phone that has a token.
// What an app may leave out of a delegate is asked for here: a name that is wrong does not compile.
@_exported import Foundation

@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data)
}

@MainActor
public final class UIApplication {
    public struct LaunchOptionsKey: Hashable {}

    public static let shared = UIApplication()

    private var delegate: UIApplicationDelegate?
    private var token = Data()

    public func begin(_ delegate: UIApplicationDelegate, token: Data) -> Bool {
        self.delegate = delegate
        self.token = token
        return delegate.application(self, didFinishLaunchingWithOptions: nil)
    }

    public func registerForRemoteNotifications() {
        delegate?.application(self, didRegisterForRemoteNotificationsWithDeviceToken: token)
    }

    @discardableResult
    public func open(_ url: URL) async -> Bool {
        print("opened \(url)")
        return true
    }
}
