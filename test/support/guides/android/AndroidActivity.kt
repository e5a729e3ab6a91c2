// Somebody grants whatever he is asked for.
package androidx.activity

import android.content.Context
import androidx.activity.result.contract.ActivityResultContracts

open class ComponentActivity : Context() {
    fun registerForActivityResult(
        contract: ActivityResultContracts.RequestPermission,
        answered: (Boolean) -> Unit
    ): Launcher = Launcher(contract, answered)
}

class Launcher(
    private val contract: ActivityResultContracts.RequestPermission,
    private val answered: (Boolean) -> Unit
) {
    fun launch(permission: String) = answered(contract.isKnown(permission))
}
