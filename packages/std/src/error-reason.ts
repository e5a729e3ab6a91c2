/** An error in a few words, for logs and stored reasons. */

/** The code of a system error, which is enough; of other errors the message. */
export function errorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
