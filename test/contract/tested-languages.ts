/** The languages of devices by their attribute, as an index answers them and as they are meant. */

import { languagesOf } from '../../src/attributes/languages-of.ts';
import type { Sql } from '../../src/database/sql.ts';
import type { TagIndex } from '../../src/tag-index/tag-index.ts';
import type { TestedDevice } from '../support/tested-devices.ts';

interface Scene {
  readonly sql: Sql;
  readonly clientId: number;
  readonly appId: number;
  readonly devices: readonly TestedDevice[];
}

/** The longer one first, so that the place says which of both was taken. */
const TEXTS = ['de-CH', 'de', 'zh-Hant', 'fr'];

/** The place of the text that a device is meant to get; 0: the default one. */
function meantText({ values }: TestedDevice): number {
  const language = values.get('language') ?? '';
  return TEXTS.findIndex((text) => language === text || language.startsWith(`${text}-`)) + 1;
}

/** Finds the texts of the devices with a tag: as they are meant, and by an index. */
export async function askedTexts(
  { sql, clientId, appId, devices }: Scene,
  index: TagIndex,
  tag: { readonly id: number; readonly sourceId: string },
) {
  const values = await languagesOf(sql, clientId, TEXTS);
  const askedLanguages = TEXTS.map((text) => values.get(text) ?? []);
  const audience = { anyTagIds: [tag.id], allTagIds: [], noneTagIds: [] };
  const scope = { appId, platformId: 3 };
  const all = devices.filter(({ platformId }) => platformId === 3);
  const meant = all
    .filter(({ tags }) => tags.has(tag.sourceId))
    .map((device) => [device.ordinal, meantText(device)] as const);
  const resolved: (readonly [number, number | undefined])[] = [];
  for (let groupNumber = 0; groupNumber * 8_192 < all.length; groupNumber += 1) {
    const group = { ...scope, groupNumber };
    const asked = { group, audience, ordinalEnd: all.length, expectedVersion: 1, askedLanguages };
    const run = await index.resolve(asked);
    for (const [at, offset] of run.offsets.entries()) {
      resolved.push([groupNumber * 8_192 + offset, run.languages?.[at]]);
    }
  }
  const some = meant.slice(0, 500).map(([ordinal]) => ordinal);
  const { languages } = await index.recheck(scope, some, audience, askedLanguages);
  const rechecked = [...(languages ?? [])].sort(([one], [other]) => one - other);
  return { meant, resolved, rechecked };
}
