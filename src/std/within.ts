/** A wait with a limit. */

/**
 * Answers the result of the promise, or `late` after `limitMs`. The promise then goes on in the
 * background; its result or error is ignored.
 */
export async function within<T, Late>(
  limitMs: number,
  promise: Promise<T>,
  late: Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, limitMs, late);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
