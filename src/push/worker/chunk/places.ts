/** Which devices of a chunk have a place under the caps of its push, and who gives it back. */

import { GROUP_BLOCKS } from '../../../domain/device.ts';
import type { PlacesProgress } from '../../../domain/progress.ts';
import type { DeviceRun } from '../../../tag-index/tag-index.ts';
import type { ChunkTask } from '../../protocol/task.ts';
import { addDevice, hasDevice, noDevices } from '../../sql/ledger/reach-words.ts';
import type { TakenPlaces, WantedPlaces } from '../../sql/ledger/take-places.ts';
import { Reach } from './reach.ts';

const ALL_BLOCKS = (1n << BigInt(GROUP_BLOCKS)) - 1n;

export class Places {
  private readonly category: string;
  private readonly withheld = new Reach();
  private readonly returned = new Reach();

  constructor(category: string) {
    this.category = category;
  }

  withhold(offset: number): void {
    this.withheld.add(offset);
  }

  /** The device surely does not have the message, and will not get it. */
  giveBack(offset: number): void {
    this.returned.add(offset);
  }

  /** Those of a mask of blocks. */
  of(blocks: bigint): PlacesProgress {
    const { category } = this;
    return { category, withheld: this.withheld.of(blocks), returned: this.returned.of(blocks) };
  }
}

interface Held {
  /** The devices that may be sent to. */
  readonly run: DeviceRun;
  /** Null: no cap concerns the push. */
  readonly places: Places | null;
  /** No device may be sent to yet: the places could not be taken. */
  readonly isBusy: boolean;
}

/** Null: another claim has the chunk. Blocks that are done are left as they are. */
export async function holdToCaps(
  task: ChunkTask,
  run: DeviceRun,
  takePlaces: (asked: WantedPlaces) => Promise<TakenPlaces>,
): Promise<Held | null> {
  const { caps, doneBlocks } = task;
  if (caps === null) return { run, places: null, isBusy: false };
  const places = new Places(caps.category);
  const open = run.offsets.filter((offset) => ((doneBlocks >> BigInt(offset >> 7)) & 1n) === 0n);
  if (task.authorized === null || open.length === 0) return { run, places, isBusy: false };
  const wanted = noDevices();
  for (const offset of open) addDevice(wanted, offset);
  const { message, appId, platformId, groupNumber, epoch } = task;
  const { notificationId } = message;
  const group = { notificationId, appId, platformId, groupNumber, epoch };
  const allowed = await takePlaces({ ...group, caps, wanted, wordsOf });
  if (allowed === null) return null;
  if (allowed === 'busy') return { run, places, isBusy: true };
  for (const offset of open) if (!hasDevice(allowed, offset)) places.withhold(offset);
  const isLeft = (offset: number) => !hasDevice(wanted, offset) || hasDevice(allowed, offset);
  return { run: keep(run, isLeft), places, isBusy: false };
}

function wordsOf(bits: Uint8Array): string | null {
  const reach = new Reach();
  for (let offset = 0; offset < bits.length * 8; offset += 1) {
    if (hasDevice(bits, offset)) reach.add(offset);
  }
  return reach.of(ALL_BLOCKS)?.words ?? null;
}

/** The same devices but for those that have no place. */
function keep(run: DeviceRun, isLeft: (offset: number) => boolean): DeviceRun {
  const positions = [...run.offsets.keys()].filter((at) => isLeft(run.offsets[at] ?? 0));
  if (positions.length === run.offsets.length) return run;
  const { deviceIds, languages } = run;
  return {
    ...run,
    offsets: Uint16Array.from(positions, (at) => run.offsets[at] ?? 0),
    deviceIds: {
      length: positions.length,
      at: (position) => {
        const from = positions[position];
        return from === undefined ? undefined : deviceIds.at(from);
      },
    },
    ...(languages === undefined
      ? {}
      : { languages: Uint8Array.from(positions, (at) => languages[at] ?? 0) }),
  };
}
