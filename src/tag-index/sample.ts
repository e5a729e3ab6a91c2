/** Concludes from some device groups what there is in all. */

/** Some of many, evenly apart; all, where there are no more. */
export const sampleOf = <T>(all: readonly T[], max: number): readonly T[] =>
  all.length <= max
    ? all
    : Array.from({ length: max }, (_, n) => Math.floor(((n + 0.5) * all.length) / max)).flatMap(
        (place) => all[place] ?? [],
      );

export interface DeviceCount {
  readonly count: number;
  /** It was concluded from a sample. */
  readonly isProjected: boolean;
}

/** Projects what was found in a sample onto all. */
export const projected = (found: number, sample: number, all: number): DeviceCount =>
  sample === all
    ? { count: found, isProjected: false }
    : { count: Math.round((found * all) / sample), isProjected: true };
