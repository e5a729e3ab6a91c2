// The app of the guide on a phone that is new: it gets a token, and later another one.
package com.acme.news

import android.content.Context
import com.google.firebase.messaging.FirebaseMessaging

fun main(arguments: Array<String>) {
    val (token, next) = arguments
    val kept = Context().getSharedPreferences("tagcast", Context.MODE_PRIVATE)
    val service = MessagingService()
    FirebaseMessaging.begin(token, service)
    registerWithFirebase(Context())
    // It registers in a thread of its own.
    for (attempt in 1..500) if (kept.getString("deviceId", null) == null) Thread.sleep(20)
    println(kept.getString("deviceId", null))
    service.onNewToken(next)
    println(kept.getString("deviceId", null))
}
