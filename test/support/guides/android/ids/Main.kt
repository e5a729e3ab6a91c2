// The app of the guide on a phone: it had a token once, and has an installation id now.
package com.acme.news

import android.content.Context
import com.google.firebase.messaging.FirebaseMessaging

fun main(arguments: Array<String>) {
    val (token, installationId) = arguments
    val kept = Context().getSharedPreferences("tagcast", Context.MODE_PRIVATE)
    kept.edit().putString("deviceId", token).apply()
    FirebaseMessaging.begin(installationId, MessagingService())
    SettingsActivity().turnOn()
    println(kept.getString("deviceId", null))
    val tagcast = Tagcast(Context())
    tagcast.unsubscribe("football-goals")
    println(tagcast.tags())
}
