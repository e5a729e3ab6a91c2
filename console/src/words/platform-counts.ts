/** Adds up counted devices, which the engine answers by app and platform. */

interface CountedScope {
  readonly platformId: number;
  readonly count: number;
}

export type PlatformCount = readonly [platformId: number, devices: number];

export const devicesOf = (rows: readonly CountedScope[]): number =>
  rows.reduce((sum, row) => sum + row.count, 0);

export function byPlatformOf(rows: readonly CountedScope[]): readonly PlatformCount[] {
  const sums = new Map<number, number>();
  for (const { platformId, count } of rows) {
    sums.set(platformId, (sums.get(platformId) ?? 0) + count);
  }
  return [...sums];
}
