package android.content.pm

class PackageManager {
    fun getPackageInfo(name: String, flags: Int): PackageInfo =
        if (name == "com.acme.news" && flags == 0) PackageInfo() else throw IllegalArgumentException(name)
}

class PackageInfo {
    val versionName = "4.2"
}
