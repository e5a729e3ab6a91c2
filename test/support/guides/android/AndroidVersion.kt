package android.os

class Build {
    object VERSION {
        /** The first one that asks for the permission. */
        const val SDK_INT = 33
    }
}
