// One start of the guide's app, on a phone with a token, and what its user does: allow, tap, turn a subject off.
import UIKit
import UserNotifications

let deviceId = CommandLine.arguments[1]
let octets = stride(from: 0, to: deviceId.count, by: 2).map { at in
    UInt8(deviceId.dropFirst(at).prefix(2), radix: 16)!
}
let app = AppDelegate()
if !UIApplication.shared.begin(app, token: Data(octets)) { fatalError("the app does not begin") }
await app.askForPermission()
await UNUserNotificationCenter.current().tap(url: "https://news.example.com/1")

let kept = UserDefaults.standard
// It registers in a task of its own.
for _ in 1...500 where kept.string(forKey: "tagcast.deviceId") != deviceId {
    try await Task.sleep(for: .milliseconds(20))
}
print(kept.string(forKey: "tagcast.deviceId") ?? "nothing")
for tag in CommandLine.arguments.dropFirst(2) { try await Tagcast.unsubscribe(from: tag) }
print(String(decoding: try await Tagcast.tags(), as: UTF8.self))
// iOS writes them by itself.
kept.synchronize()
