// What the guide's program needs of Android: it keeps what is put into it, for as long as it runs.
package android.content

import android.content.pm.PackageManager

open class Context {
    val applicationContext: Context get() = this
    val packageName = "com.acme.news"
    val packageManager = PackageManager()

    fun getSharedPreferences(name: String, mode: Int): SharedPreferences =
        all.getOrPut("$name $mode") { SharedPreferences() }

    companion object {
        const val MODE_PRIVATE = 0
        private val all = HashMap<String, SharedPreferences>()
    }
}

class SharedPreferences {
    private val kept = HashMap<String, String>()

    fun getString(name: String, otherwise: String?): String? = kept[name] ?: otherwise

    fun edit(): Editor = Editor()

    inner class Editor {
        private val changed = HashMap<String, String>()

        fun putString(name: String, value: String): Editor {
            changed[name] = value
            return this
        }

        fun apply() = kept.putAll(changed)
    }
}
