package android.os

class Build {
    object VERSION {
        const val RELEASE = "14"

        /** The first one that asks for the permission. */
        const val SDK_INT = 33
    }
}
