package androidx.activity.result.contract

import android.Manifest

class ActivityResultContracts {
    class RequestPermission {
        fun isKnown(permission: String) = permission == Manifest.permission.POST_NOTIFICATIONS
    }
}
