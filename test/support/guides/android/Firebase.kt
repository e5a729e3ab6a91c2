// Firebase without Google: what an installation is called is told from outside.
package com.google.firebase.messaging

import android.content.Context

open class FirebaseMessagingService : Context() {
    open fun onRegistered(installationId: String) = Unit

    open fun onNewToken(token: String) = Unit
}

class FirebaseMessaging private constructor(
    private val name: String,
    private val service: FirebaseMessagingService
) {
    val token: Task<String> get() = Task(name)

    fun register() = service.onRegistered(name)

    companion object {
        private var instance: FirebaseMessaging? = null

        fun begin(name: String, service: FirebaseMessagingService) {
            instance = FirebaseMessaging(name, service)
        }

        fun getInstance(): FirebaseMessaging = instance ?: throw IllegalStateException("it has not begun")
    }
}

class Task<T>(private val result: T) {
    fun addOnSuccessListener(listener: (T) -> Unit) = listener(result)
}
