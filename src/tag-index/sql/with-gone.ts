/** Adds to the devices of a group those that were named and are gone: they have no id. */

import type { DeviceToken } from '../../domain/device.ts';
import type { DeviceRun } from '../tag-index.ts';

/** `named`: see ResolveRequest. `first`, `end`: the range of offsets that was asked for. */
export function withGone(
  run: DeviceRun,
  named: Uint8Array,
  { first, end }: { readonly first: number; readonly end: number },
): DeviceRun {
  const places = new Map([...run.offsets].map((offset, place) => [offset, place]));
  const offsets: number[] = [];
  for (let offset = first; offset < end; offset += 1) {
    if ((((named[offset >> 3] ?? 0) >> (offset & 7)) & 1) === 1) offsets.push(offset);
  }
  if (offsets.length === places.size) return run;
  const placeOf = offsets.map((offset) => places.get(offset));
  const { languages } = run;
  return {
    ...run,
    offsets: Uint16Array.from(offsets),
    deviceIds: {
      length: offsets.length,
      at: (position): DeviceToken | undefined => {
        const place = placeOf[position];
        return place === undefined ? undefined : run.deviceIds.at(place);
      },
    },
    ...(languages === undefined
      ? {}
      : {
          languages: Uint8Array.from(placeOf, (place) =>
            place === undefined ? 0 : (languages[place] ?? 0),
          ),
        }),
    hasGone: true,
  };
}
