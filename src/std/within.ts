/** A wait with a limit. */

/** The result, or `late` after `limitMs`; the promise goes on, and what comes of it is ignored. */
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
