/** Work that may be done again, whole. */

/**
 * What `work` resolves with; done again, `triesMax` times in all, while `mayPass` says of what it
 * threw that the next try may succeed.
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
