/** The contract of every tag index, held against a plain model of random histories. */

import * as fc from 'fast-check';
import type { Test } from 'tap';
import type { Sql } from '../../src/database/sql.ts';
import { readExpression } from '../../src/domain/audience-expression.ts';
import { GROUP_DEVICES } from '../../src/domain/device.ts';
import type { DeviceGroupKey, DeviceHistory } from '../../src/domain/device-group-change.ts';
import type { Audience } from '../../src/domain/notification.ts';
import type { DeviceHistories, TagIndex } from '../../src/tag-index/tag-index.ts';
import type { Tree } from '../support/expressions.ts';
import { compiledOf, means, textOf, trees } from '../support/expressions.ts';

/**
 * A tag index under test, and the way its devices come and go. Scopes and tags need not exist
 * elsewhere.
 */
export interface TagIndexBench {
  readonly sql: Sql;
  readonly index: TagIndex;
  /** Makes the device if it is new; its tags, and what is known of it, are these from now on. */
  setTags(
    scope: ModelScope,
    ordinal: number,
    tagIds: readonly number[],
    history: DeviceHistory,
  ): Promise<void>;
  erase(scope: ModelScope, ordinal: number): Promise<void>;
  /** The version that a claim would ask for. */
  versionOf(group: DeviceGroupKey): Promise<number>;
}

export interface ModelScope {
  readonly appId: number;
  readonly platformId: number;
}

interface Change {
  readonly scope: number;
  readonly ordinal: number;
  /** Null: erased. */
  readonly tagIds: readonly number[] | null;
  readonly history: DeviceHistory;
}

const SCOPES: readonly ModelScope[] = [
  { appId: 1, platformId: 3 },
  { appId: 1, platformId: 15 },
  { appId: 2, platformId: 3 },
];
/** Around the borders of blocks and groups. */
const ORDINALS = [0, 1, 127, 128, 8_190, 8_191, 8_192, 8_193, 16_383, 16_384];
const TAGS = [1, 2, 3, 4];
/** Above all of them. */
const ORDINAL_END_MAX = 20_000;

const tags = fc.uniqueArray(fc.constantFrom(...TAGS));
const change: fc.Arbitrary<Change> = fc.record({
  scope: fc.nat(SCOPES.length - 1),
  ordinal: fc.constantFrom(...ORDINALS),
  tagIds: fc.option(tags, { freq: 6 }),
  history: fc.record({
    refusals: fc.constantFrom(0, 0, 2),
    environment: fc.constantFrom(null, null, 'production', 'sandbox'),
  }),
});

/** An audience, and whether a device with these tags is in it. */
interface Asked {
  readonly audience: Audience;
  readonly isMeant: (tagIds: ReadonlySet<number>) => boolean;
}

const selections: fc.Arbitrary<Asked> = fc
  .record({
    anyTagIds: tags,
    allTagIds: fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 2 }),
    noneTagIds: fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 2 }),
  })
  .map((audience) => ({ audience, isMeant: (tagIds) => matches(tagIds, audience) }));
/** Expressions with a tag that was a target, and has expired before the push was planned. */
const expressions: fc.Arbitrary<Asked> = fc
  .tuple(
    trees(TAGS).filter((tree) => !means(tree, new Set())),
    fc.option(fc.constantFrom(...TAGS), { freq: 3 }),
  )
  .map(([tree, expired]) => {
    const compiled = compiledTree(tree);
    const isLost = expired !== null && compiled.allTagIds.includes(expired);
    // The plan's own lists.
    const anyTagIds = isLost ? [] : compiled.anyTagIds.filter((tagId) => tagId !== expired);
    return {
      audience: { ...compiled, anyTagIds },
      isMeant: (tagIds) => means(withoutSelecting(tree, expired), tagIds),
    };
  });
const audience = fc.oneof(selections, expressions);

function compiledTree(tree: Tree): Audience {
  const read = readExpression(textOf(tree, (tag) => `#${tag}`));
  if (!read.ok) throw new Error(read.fault.message);
  return compiledOf(read.expression.root, Number);
}

/** No device has the tag where it selects; where it excludes every device keeps it. */
function withoutSelecting(tree: Tree, expired: number | null, isExcluded = false): Tree {
  const inner = (part: Tree) => withoutSelecting(part, expired, isExcluded);
  if ('not' in tree) return { not: withoutSelecting(tree.not, expired, !isExcluded) };
  if ('and' in tree) return { and: tree.and.map(inner) };
  if ('or' in tree) return { or: tree.or.map(inner) };
  return tree.tag === expired && !isExcluded ? { or: [] } : tree;
}

/** The name that a bench gives a device. */
export const deviceIdOf = ({ appId, platformId }: ModelScope, ordinal: number): string =>
  `${appId}/${platformId}/${ordinal}`;

/** Devices of the first group with the largest tokens that there are. */
export async function seedWideDevices(
  sql: Sql,
  { appId, platformId }: ModelScope,
  tagId: number,
  count: number,
): Promise<void> {
  await sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, tag_ids)
    select ${appId}, ${platformId}, n, md5(n::text)::uuid, lpad(n::text, 4096, '語'), now(),
      array[${tagId}::integer]
    from generate_series(0, ${count - 1}::integer) as n`;
}

/** If the tokens are too large together, as many blocks as fit come first, then the next ones. */
export async function answersInPieces(
  t: Test,
  index: TagIndex,
  scope: ModelScope,
  tagId: number,
  { count, bytesMax }: { readonly count: number; readonly bytesMax: number },
): Promise<void> {
  const found: number[] = [];
  let firstOffset = 0;
  let pieces = 0;
  for (; firstOffset < GROUP_DEVICES; pieces += 1) {
    t.ok(pieces < 10, 'each goes on');
    const run = await index.resolve({
      group: { ...scope, groupNumber: 0 },
      audience: { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] },
      ordinalEnd: GROUP_DEVICES,
      expectedVersion: 1,
      firstOffset,
    });
    const bytes = [...run.offsets.keys()].map((at) =>
      Buffer.byteLength(String(run.deviceIds.at(at))),
    );
    t.ok(bytes.reduce((sum, some) => sum + some, 0) <= bytesMax, 'no more than fits');
    t.equal(run.deviceIds.length, run.offsets.length);
    found.push(...run.offsets);
    firstOffset = run.endOffset ?? GROUP_DEVICES;
  }
  t.ok(pieces > 1);
  t.strictSame(found, [...Array(count).keys()]);
}

/** Runs the suite. `make` empties and hands out a bench for each history. */
export async function tagIndexContract(
  t: Test,
  make: () => Promise<TagIndexBench>,
  runs = 40,
): Promise<void> {
  await t.test('answers as a plain model does', async (t) => {
    const property = fc.asyncProperty(
      fc.array(change, { maxLength: 30 }),
      fc.array(audience, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(0, 1, 128, 8_191, 8_192, 8_193, ORDINAL_END_MAX),
      async (changes, audiences, ordinalEnd) => {
        const bench = await make();
        const model = await play(bench, changes);
        for (const asked of audiences) {
          await compare(t, bench, model, asked, ordinalEnd);
        }
      },
    );
    await fc.assert(property, { numRuns: runs });
    t.pass(`${runs} histories`);
  });
}

type Model = ReadonlyMap<
  string,
  {
    readonly scope: ModelScope;
    readonly ordinal: number;
    readonly tagIds: ReadonlySet<number>;
    readonly history: DeviceHistory;
  }
>;

async function play(bench: TagIndexBench, changes: readonly Change[]): Promise<Model> {
  const model = new Map<
    string,
    { scope: ModelScope; ordinal: number; tagIds: ReadonlySet<number>; history: DeviceHistory }
  >();
  for (const { scope: index, ordinal, tagIds, history } of changes) {
    const scope = SCOPES[index];
    if (scope === undefined) continue;
    const deviceId = deviceIdOf(scope, ordinal);
    if (tagIds === null) {
      model.delete(deviceId);
      await bench.erase(scope, ordinal);
    } else {
      model.set(deviceId, { scope, ordinal, tagIds: new Set(tagIds), history });
      await bench.setTags(scope, ordinal, tagIds, history);
    }
  }
  return model;
}

async function compare(
  t: Test,
  { sql, index, versionOf }: TagIndexBench,
  model: Model,
  { audience: asked, isMeant }: Asked,
  ordinalEnd: number,
): Promise<void> {
  for (const scope of SCOPES) {
    const matching = [...model.values()].filter(
      (device) => device.scope === scope && isMeant(device.tagIds),
    );
    const noted = matching
      .filter(({ history }) => history.refusals > 0 || history.environment !== null)
      .map(({ ordinal, history }) => `${ordinal} ${history.refusals} ${history.environment}`)
      .sort();
    const expected = matching.map(({ ordinal }) => ordinal).sort((a, b) => a - b);
    const found: number[] = [];
    const histories = new Map<number, DeviceHistory>();
    for (const groupNumber of [0, 1, 2]) {
      const group = { ...scope, groupNumber };
      const expectedVersion = await versionOf(group);
      const run = await index.resolve({
        group,
        audience: asked,
        ordinalEnd,
        expectedVersion,
        askedLanguages: LANGUAGES,
      });
      for (const [position, offset] of run.offsets.entries()) {
        const ordinal = groupNumber * GROUP_DEVICES + offset;
        found.push(ordinal);
        const history = run.histories.get(ordinal);
        if (history !== undefined) histories.set(ordinal, history);
        const language = run.languages?.[position];
        equal([language], [languageOf(model.get(deviceIdOf(scope, ordinal)))], 'language');
        if (String(run.deviceIds.at(position)) !== deviceIdOf(scope, ordinal))
          t.fail('another device');
      }
    }
    equal(
      found,
      expected.filter((ordinal) => ordinal < ordinalEnd),
      'resolve',
    );
    if (ordinalEnd === ORDINAL_END_MAX) equal(listed(histories), noted, 'histories');
    const plain = await index.recheck(scope, ORDINALS, asked);
    equal([plain.languages], [undefined], 'no languages');
    const {
      deviceIds: rechecked,
      histories: recheckedHistories,
      languages,
    } = await index.recheck(scope, ORDINALS, asked, LANGUAGES);
    equal(listed(recheckedHistories), noted, 'histories of recheck');
    equal(
      [...rechecked.keys()].sort((a, b) => a - b),
      expected,
      'recheck',
    );
    for (const [ordinal, deviceId] of rechecked) {
      if (deviceId !== deviceIdOf(scope, ordinal)) t.fail('another device');
      equal([languages?.get(ordinal)], [languageOf(model.get(deviceId))], 'language of recheck');
    }
    equal([(await index.count(sql, scope, asked)).count], [expected.length], 'count');
  }
}

/** A tag that no device has among them. */
const LANGUAGES = [4, 99, 2, 1];
const languageOf = (device: { readonly tagIds: ReadonlySet<number> } | undefined): number =>
  LANGUAGES.findIndex((tagId) => device?.tagIds.has(tagId)) + 1;

const matches = (tagIds: ReadonlySet<number>, asked: Audience): boolean =>
  asked.anyTagIds.some((tagId) => tagIds.has(tagId)) &&
  asked.allTagIds.every((tagId) => tagIds.has(tagId)) &&
  !asked.noneTagIds.some((tagId) => tagIds.has(tagId));

const listed = (histories: DeviceHistories): readonly string[] =>
  [...histories]
    .map(([ordinal, { refusals, environment }]) => `${ordinal} ${refusals} ${environment}`)
    .sort();

/** Thrown, not asserted: fast-check shrinks a history that throws. */
function equal<T>(found: readonly T[], expected: readonly T[], question: string): void {
  if (found.join() !== expected.join()) {
    throw new Error(`${question}: found [${found.join()}], expected [${expected.join()}]`);
  }
}
