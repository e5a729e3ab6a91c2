/** Repeats work as a whole. */

/**
 * Answers the result of `work`. Repeats it, up to `triesMax` tries in all, while `mayPass` says of
 * its error that the next try may succeed.
 */
export async function tryAgain<Result>(
  triesMax: number,
  mayPass: (error: unknown) => boolean,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= triesMax || !mayPass(error)) throw error;
    }
  }
}
