/** Maps tags of a file to the client's. Each is asked for, and reported as missing, once. */

import type { FileTag } from '../../../packages/device-files/src/file-device.ts';
import { foreignText } from '../../../packages/std/src/foreign-text.ts';
import type { FoundTag } from '../../devices/import/import-tags.ts';
import { TAGS_PER_REQUEST_MAX } from '../../devices/import/request-limits.ts';
import { TAGS_PER_CLIENT_MAX } from '../../domain/tag.ts';

interface MappedTags {
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

export class ImportTagMap {
  /** Devices' subscriptions that were left out. */
  leftOut = 0;
  created = 0;
  private readonly ask: (tags: readonly FileTag[]) => Promise<MappedTags>;
  private readonly onMissing: (sentence: string) => void;
  private readonly known = new Map<string, FoundTag>();
  private named = 0;

  constructor(
    ask: (tags: readonly FileTag[]) => Promise<MappedTags>,
    onMissing: (sentence: string) => void,
  ) {
    this.ask = ask;
    this.onMissing = onMissing;
  }

  async learn(tags: readonly FileTag[]): Promise<void> {
    const needed = new Map(tags.map((tag) => [keyOf(tag), tag]));
    if (this.known.size + needed.size > KNOWN_MAX) this.known.clear();
    const missing = [...needed].filter(([key]) => !this.known.has(key));
    for (let start = 0; start < missing.length; start += TAGS_PER_REQUEST_MAX) {
      await this.learnSome(missing.slice(start, start + TAGS_PER_REQUEST_MAX));
    }
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

  private async learnSome(entries: readonly (readonly [string, FileTag])[]): Promise<void> {
    const { found, created } = await this.ask(entries.map(([, tag]) => tag));
    this.created += created;
    for (const [index, [key, tag]] of entries.entries()) {
      const id = found[index] ?? 'unknown';
      this.known.set(key, id);
      if (typeof id !== 'number') this.report(tag, id);
    }
  }

  private report({ sourceId, id, name }: FileTag, why: Exclude<FoundTag, number>): void {
    this.named += 1;
    if (this.named > NAMED_MAX) return;
    const said = sourceId ?? `${id}${name === null ? '' : ` (${name})`}`;
    const text = foreignText(said, TEXT_LENGTH_MAX);
    this.onMissing(`Tag ${text} is ${WORDS[why]}: left out.`);
    if (this.named === NAMED_MAX)
      this.onMissing('Further tags that are left out are not reported.');
  }
}

const WORDS: Readonly<Record<Exclude<FoundTag, number>, string>> = {
  unknown: 'unknown',
  expired: 'expired',
  'not-connected': 'not connected to this app',
};

/** Two tags with the same key are one tag, wherever they occur. */
const keyOf = ({ sourceId, id, name }: FileTag): string =>
  sourceId === null ? `${id} ${name ?? ''}` : `s${sourceId}`;
