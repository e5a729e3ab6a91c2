// As much of org.json, which Android has, as the guide uses.
package org.json

private val escaped = mapOf('"' to "\\\"", '\\' to "\\\\", '\n' to "\\n")

private fun textOf(value: Any?): String = when (value) {
    null, is Number, is Boolean, is JSONArray, is JSONObject -> value.toString()
    is String -> value.map { escaped[it] ?: it.toString() }.joinToString("", "\"", "\"")
    else -> throw IllegalArgumentException("no JSON: $value")
}

class JSONObject(private val fields: Map<String, Any?>) {
    override fun toString(): String =
        fields.entries.joinToString(",", "{", "}") { (name, value) -> "${textOf(name)}:${textOf(value)}" }
}

/** Of values, or of a text that is one already. */
class JSONArray(private val text: String) {
    constructor(values: Collection<Any?>) : this(values.joinToString(",", "[", "]") { textOf(it) })

    override fun toString(): String = text
}
