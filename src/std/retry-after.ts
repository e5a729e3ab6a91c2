/** The `retry-after` header field (RFC 9110, 10.2.3): seconds, or a date. */

const SECONDS = /^\d{1,9}$/;

/**
 * A longer time is a mistake or an attack.
 * @limit longest `Retry-After` believed
 */
const RETRY_AFTER_MS_MAX = 86_400_000;

/** Milliseconds from now. Null: the field is absent or malformed. */
export function retryAfterMs(field: string | undefined, nowMs: number): number | null {
  if (field === undefined) return null;
  const value = field.trim();
  const ms = SECONDS.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  if (Number.isNaN(ms)) return null;
  return Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}
