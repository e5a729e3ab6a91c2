/** A wait that has an end. */

/**
 * What the promise resolves with, or `late` when that takes longer. It goes on behind, and what
 * becomes of it then nobody hears.
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
