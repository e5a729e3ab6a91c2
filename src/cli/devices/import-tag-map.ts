/**
 * Maps tags of a file to the client's, and creates those that are missing if that is wanted. Each
 * is asked for, and reported as missing, once.
 */

import type { TagcastClient } from '../../../packages/client/src/client.ts';
import type { FileTag } from '../../../packages/device-files/src/file-device.ts';
import { foreignText } from '../../../packages/std/src/foreign-text.ts';
import type { FoundTag } from '../../devices/import/import-tags.ts';
import { TAGS_PER_REQUEST_MAX } from '../../devices/import/request-limits.ts';
import { TAGS_PER_CLIENT_MAX } from '../../domain/tag.ts';
import { askPatiently } from '../patient-requests.ts';

export interface MappedTags {
  /** In the order of the request. */
  readonly found: readonly FoundTag[];
  readonly created: number;
}

/**
 * A client has fewer tags.
 * @limit tags remembered of a file → asked again
 */
const KNOWN_MAX = 2 * TAGS_PER_CLIENT_MAX;
const TEXT_LENGTH_MAX = 80;
/** @limit tags left out that are named → counted */
const NAMED_MAX = 100;
/**
 * An export of another engine may hold facts of each user as tags.
 * @limit tags that an import creates without `--tags` → it stops, and creates none of the batch
 */
export const CREATED_TAGS_MAX = 1_000;

interface MapOptions {
  /** Null: none is created. */
  readonly createdMax: number | null;
  /** Finds them, and creates those that do not exist. */
  ask(tags: readonly FileTag[], creates: boolean): Promise<MappedTags>;
  onMissing(sentence: string): void;
}

/** Asks the engine for tags of an app. `creates`: those that do not exist are made. */
export async function findTags(
  api: TagcastClient,
  appId: number,
  tags: readonly FileTag[],
  creates: boolean,
): Promise<MappedTags> {
  const asked = { path: { id: appId }, body: { tags, create: creates } };
  const path = '/operator/v1/apps/{id}/devices/find-tags';
  return (await askPatiently(() => api.request('POST', path, asked))).body;
}

export class ImportTagMap {
  /** Devices' subscriptions that were left out. */
  leftOut = 0;
  created = 0;
  private readonly options: MapOptions;
  private readonly known = new Map<string, FoundTag>();
  private named = 0;

  constructor(options: MapOptions) {
    this.options = options;
  }

  /** Returns false, and creates none, if it would have to create more tags than it may. */
  async learn(tags: readonly FileTag[]): Promise<boolean> {
    const { createdMax } = this.options;
    const needed = new Map(tags.map((tag) => [keyOf(tag), tag]));
    if (this.known.size + needed.size > KNOWN_MAX) this.known.clear();
    const missing = [...needed].filter(([key]) => !this.known.has(key));
    const unknown = await this.find(missing, false);
    if (createdMax === null) this.reportAll(unknown);
    else if (this.created + unknown.length > createdMax) return false;
    else this.reportAll(await this.find(unknown, true));
    return true;
  }

  /** Returns those that the client does not have. */
  private async find(entries: readonly KeyedTag[], creates: boolean): Promise<readonly KeyedTag[]> {
    const unknown: KeyedTag[] = [];
    for (let start = 0; start < entries.length; start += TAGS_PER_REQUEST_MAX) {
      const some = entries.slice(start, start + TAGS_PER_REQUEST_MAX);
      const { found, created } = await this.options.ask(
        some.map(([, tag]) => tag),
        creates,
      );
      this.created += created;
      for (const [index, [key, tag]] of some.entries()) {
        const id = found[index] ?? 'unknown';
        this.known.set(key, id);
        if (id === 'unknown') unknown.push([key, tag]);
        else if (typeof id !== 'number') this.report(tag, id);
      }
    }
    return unknown;
  }

  /** The ids of tags that were learnt, without those that do not exist. */
  idsOf(tags: readonly FileTag[]): readonly number[] {
    const ids: number[] = [];
    for (const tag of tags) {
      const found = this.known.get(keyOf(tag));
      if (typeof found === 'number') ids.push(found);
      else this.leftOut += 1;
    }
    return ids;
  }

  private reportAll(unknown: readonly KeyedTag[]): void {
    for (const [, tag] of unknown) this.report(tag, 'unknown');
  }

  private report({ sourceId, id, name }: FileTag, why: Exclude<FoundTag, number>): void {
    this.named += 1;
    if (this.named > NAMED_MAX) return;
    const said = sourceId ?? `${id}${name === null ? '' : ` (${name})`}`;
    const text = foreignText(said, TEXT_LENGTH_MAX);
    const { onMissing } = this.options;
    onMissing(`Tag ${text} is ${WORDS[why]}: left out.`);
    if (this.named === NAMED_MAX) onMissing('Further tags that are left out are not reported.');
  }
}

const WORDS: Readonly<Record<Exclude<FoundTag, number>, string>> = {
  unknown: 'unknown',
  expired: 'expired',
  'not-connected': 'not connected to this app',
};

type KeyedTag = readonly [key: string, tag: FileTag];

/** Two tags with the same key are one tag, wherever they occur. */
const keyOf = ({ sourceId, id, name }: FileTag): string =>
  sourceId === null ? `${id} ${name ?? ''}` : `s${sourceId}`;
