/** Repeats work as a whole. */

/** Repeats `work`, up to `triesMax` tries, while `mayPass` says of its error that it may pass. */
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
