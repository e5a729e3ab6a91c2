/**
 * The tag index in Redis: it answers for a group whose keys prove that they are current, else the
 * database does. Two queries for each group: matching devices, and their tokens.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../database/sql.ts';
import { concernedTagIds, conditionOf, isNobody } from '../../domain/audience.ts';
import type { AudienceCondition } from '../../domain/audience-condition.ts';
import { isRowTest } from '../../domain/audience-condition.ts';
import type { Scope } from '../../domain/device.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';
import type { DeviceGroupKey, RaisedDeviceGroup } from '../../domain/device-group-change.ts';
import type { Audience } from '../../domain/notification.ts';
import type { Clock } from '../../std/clock.ts';
import { listDeviceGroupsOf } from '../groups/list-device-groups.ts';
import { listTaggedGroups } from '../groups/list-tagged-groups.ts';
import { ResolveMeter } from '../resolve-meter.ts';
import type { DeviceCount } from '../sample.ts';
import { projected, sampleOf } from '../sample.ts';
import type {
  AskedLanguages,
  DeviceHistories,
  DeviceRun,
  PresentDevices,
  ResolveRequest,
  TagIndex,
} from '../tag-index.ts';
import { NOBODY } from '../tag-index.ts';
import type { RedisClient } from './connect.ts';
import { decodeHistories } from './histories.ts';
import type { NameOfIndex } from './index-name.ts';
import { groupHashKey, HISTORIES_FIELD, VERSION_FIELD, versionIn } from './keys.ts';
import type { OffsetSet } from './offsets.ts';
import {
  add,
  countIn,
  emptySet,
  intersect,
  offsetsIn,
  subtract,
  subtractBits,
  unite,
} from './offsets.ts';
import { readOfOneVersion } from './read-fields.ts';
import { readTokens } from './read-tokens.ts';
import type { RedisBreaker } from './redis-breaker.ts';

/**
 * A committed change arrives in Redis within milliseconds.
 * @limit a reader waits for a change on its way to Redis → the database answers
 */
const LAG_MS_MAX = 40;
const LAG_POLL_MS = 5;
/** A token missing between the two queries was erased: then its device no longer matches. */
const TRIES = 2;
/**
 * A kibioctet each, at most.
 * @limit values of tags that Redis is asked for at once, to count → the next ones after them
 */
const TAG_VALUES_AT_ONCE = 1_024;

interface RedisTagIndexOptions {
  readonly client: RedisClient;
  readonly name: NameOfIndex;
  readonly breaker: RedisBreaker;
  readonly sql: Sql;
  /** Answers when Redis cannot. */
  readonly database: TagIndex;
  readonly clock: Clock;
  /** Counts the groups that it resolves, and those that it cannot. Absent: not counted. */
  readonly meter?: ResolveMeter;
}

/** The matching devices of a group. */
interface Matching {
  readonly version: number;
  readonly set: OffsetSet;
  readonly histories: Buffer | null;
  /** The devices of each language that was asked for. */
  readonly ofLanguages: readonly OffsetSet[];
}

const NOBODY_MATCHES: Matching = {
  version: 0,
  set: emptySet(),
  histories: null,
  ofLanguages: [],
};

export class RedisTagIndex implements TagIndex {
  readonly #options: RedisTagIndexOptions;
  readonly #meter: ResolveMeter;

  constructor(options: RedisTagIndexOptions) {
    this.#options = options;
    this.#meter = options.meter ?? new ResolveMeter();
  }

  async resolve(request: ResolveRequest): Promise<DeviceRun> {
    const { name, breaker, database } = this.#options;
    if (isNobody(request.audience)) return NOBODY;
    if (isForDatabase(request.audience, request.askedLanguages)) return database.resolve(request);
    const startedMs = performance.now();
    const run = await breaker.run(async () => (await this.#resolve(request)) ?? 'stale');
    if (run === null) {
      this.#meter.unavailable += 1;
      return database.resolve(request);
    }
    if (run === 'stale') {
      this.#meter.stale += 1;
      await name.doubt();
      return database.resolve(request);
    }
    this.#meter.redisSeconds.observe((performance.now() - startedMs) / 1_000);
    return run;
  }

  /** From the database: retries are few, and each is for one device. */
  recheck(
    scope: Scope,
    ordinals: readonly number[],
    audience: Audience,
    askedLanguages?: AskedLanguages,
  ): Promise<PresentDevices> {
    return this.#options.database.recheck(scope, ordinals, audience, askedLanguages);
  }

  async count(
    sql: Sql,
    scope: Scope,
    audience: Audience,
    groupsMax = Number.POSITIVE_INFINITY,
  ): Promise<DeviceCount> {
    if (isNobody(audience)) return projected(0, 0, 0);
    if (isForDatabase(audience)) {
      return this.#options.database.count(sql, scope, audience, groupsMax);
    }
    const tagged = new Set(await listTaggedGroups(sql, scope, audience));
    const all = await listDeviceGroupsOf(sql, scope);
    const groups = all.filter(({ groupNumber }) => tagged.has(groupNumber));
    const sample = sampleOf(groups, groupsMax);
    const found = await this.#countIn(sample, audience);
    return found === null
      ? this.#options.database.count(sql, scope, audience, groupsMax)
      : projected(found, sample.length, groups.length);
  }

  /**
   * Null: Redis does not answer, or cannot prove that a group is current. Each piece has the
   * breaker's time: many tags must not look like a Redis that hangs.
   */
  async #countIn(groups: readonly RaisedDeviceGroup[], audience: Audience): Promise<number | null> {
    const atOnce = Math.ceil(TAG_VALUES_AT_ONCE / concernedTagIds(audience).length);
    let count = 0;
    for (let from = 0; from < groups.length; from += atOnce) {
      const some = groups.slice(from, from + atOnce);
      const matching = await this.#options.breaker.run(() => this.#matching(some, audience));
      if (matching === null) return null;
      for (const found of matching) {
        if (found === null) return null;
        count += countIn(found.set);
      }
    }
    return count;
  }

  /** Null: Redis cannot prove that the group is current. */
  async #resolve({
    group,
    audience,
    ordinalEnd,
    expectedVersion,
    firstOffset = 0,
    askedLanguages = [],
    leftOut,
  }: ResolveRequest): Promise<DeviceRun | null> {
    const hashKey = this.#keyOf(group);
    const start = group.groupNumber * GROUP_DEVICES;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const current = { ...group, version: expectedVersion };
      const found = await this.#currentMatching(current, audience, askedLanguages);
      if (found === null) return null;
      if (leftOut !== undefined) subtractBits(found.set, leftOut);
      const offsets = offsetsIn(found.set, firstOffset, ordinalEnd - start);
      const tokens = await readTokens(this.#options.client, hashKey, offsets, found.version);
      if (tokens === null) continue;
      const { deviceIds } = tokens;
      const known = offsets.subarray(0, deviceIds.length);
      return {
        ...tokens,
        offsets: known,
        histories: historiesOf(found, start),
        ...(askedLanguages.length === 0 ? {} : { languages: languagesOf(known, found) }),
      };
    }
    return null;
  }

  /** Waits a little for a change that is on its way. */
  async #currentMatching(
    group: RaisedDeviceGroup,
    audience: Audience,
    askedLanguages: AskedLanguages,
  ): Promise<Matching | null> {
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + LAG_MS_MAX;
    for (;;) {
      const [found = null] = await this.#matching([group], audience, askedLanguages);
      if (found !== null || clock.monotonicMs() >= untilMs) return found;
      await sleep(LAG_POLL_MS);
    }
  }

  /** Null: it cannot prove its version. The values of a group are of one version. */
  async #matching(
    groups: readonly RaisedDeviceGroup[],
    audience: Audience,
    askedLanguages: AskedLanguages = [],
  ): Promise<readonly (Matching | null)[]> {
    const tagIds = [...new Set([...concernedTagIds(audience), ...askedLanguages.flat()])];
    const hashKeys = groups.map((group) => this.#keyOf(group));
    const fields = [HISTORIES_FIELD, ...tagIds.map(String)];
    const { client } = this.#options;
    const answers = await readOfOneVersion(client, hashKeys, VERSION_FIELD, fields);
    return groups.map(({ version: expectedVersion }, at) => {
      const answer = answers[at] ?? null;
      if (answer === null) return null;
      const [version = null, histories = null, ...values] = answer;
      // The group was always empty.
      if (version === null) return expectedVersion === 0 ? NOBODY_MATCHES : null;
      const current = versionIn(version);
      if (current < expectedVersion) return null;
      const byTag = new Map(tagIds.map((tagId, place) => [tagId, values[place] ?? null]));
      const set = matchingSet(audience, (tagId) => byTag.get(tagId) ?? null);
      const ofLanguages = askedLanguages.map((ids) =>
        setOf([ids].flat().map((id) => byTag.get(id) ?? null)),
      );
      return { version: current, set, histories, ofLanguages };
    });
  }

  #keyOf(group: DeviceGroupKey): string {
    return groupHashKey(this.#options.name.current, group);
  }
}

/**
 * More take longer than a command may: the breaker would open for all clients.
 * @limit values of attributes that meet an audience or are its languages, for Redis to answer → the
 * database answers
 */
const FACETS_MAX = 20_000;

/** No field has the devices with any tag or none, or their days and numbers: only their rows do. */
const isForDatabase = (
  { isToEverybody, isNamed, asksRows, facetIds = [] }: Audience,
  askedLanguages: AskedLanguages = [],
): boolean =>
  isToEverybody === true ||
  isNamed === true ||
  asksRows === true ||
  facetIds.length + askedLanguages.flat().length > FACETS_MAX;

/** Any of the first tags, all of the second, none of the third, and the condition. */
function matchingSet(audience: Audience, offsetsOf: (tagId: number) => Buffer | null): OffsetSet {
  const { anyTagIds, allTagIds, noneTagIds } = audience;
  const matching = emptySet();
  for (const tagId of anyTagIds) unite(matching, offsetsOf(tagId));
  for (const tagId of allTagIds) {
    const having = emptySet();
    unite(having, offsetsOf(tagId));
    intersect(matching, having);
  }
  if (noneTagIds.length > 0) {
    const unwanted = emptySet();
    for (const tagId of noneTagIds) unite(unwanted, offsetsOf(tagId));
    subtract(matching, unwanted);
  }
  const condition = conditionOf(audience);
  return condition === null ? matching : meeting(matching, condition, offsetsOf);
}

/** Those of the devices that meet the condition, as a set of its own. */
function meeting(
  devices: OffsetSet,
  condition: AudienceCondition,
  offsetsOf: (tagId: number) => Buffer | null,
): OffsetSet {
  if (typeof condition === 'number') {
    return meeting(devices, condition < 0 ? { and: [condition] } : { or: [condition] }, offsetsOf);
  }
  if (isRowTest(condition)) throw new Error('No field of the index has what only rows know');
  if ('and' in condition) {
    // A test of an attribute may be met by thousands of values: they are gathered first.
    const unwanted = condition.and.filter((part) => typeof part === 'number' && part < 0);
    const found = devices.slice();
    subtract(found, gathered(unwanted, offsetsOf));
    const others = condition.and.filter((part) => typeof part === 'object' || part >= 0);
    return others.reduce<OffsetSet>((left, part) => meeting(left, part, offsetsOf), found);
  }
  const wanted = condition.or.filter((part) => typeof part === 'number' && part >= 0);
  const found = devices.slice();
  intersect(found, gathered(wanted, offsetsOf));
  for (const part of condition.or) {
    if (typeof part === 'object' || part < 0) add(found, meeting(devices, part, offsetsOf));
  }
  return found;
}

/** The devices that have one of these. */
function gathered(
  literals: readonly AudienceCondition[],
  offsetsOf: (tagId: number) => Buffer | null,
): OffsetSet {
  const set = emptySet();
  for (const literal of literals) unite(set, offsetsOf(Math.abs(Number(literal))));
  return set;
}

function setOf(values: readonly (Buffer | null)[]): OffsetSet {
  const set = emptySet();
  for (const value of values) unite(set, value);
  return set;
}

const isIn = (set: OffsetSet, offset: number): boolean =>
  ((set[offset >>> 5] ?? 0) & (1 << (offset & 31))) !== 0;

/** The first language that each device has, by position in the offsets, from 1; 0: none. */
const languagesOf = (offsets: Uint16Array, { ofLanguages }: Matching): Uint8Array =>
  Uint8Array.from(offsets, (offset) => ofLanguages.findIndex((set) => isIn(set, offset)) + 1);

/** The histories of the matching devices, by ordinal. */
function historiesOf({ set, histories }: Matching, start: number): DeviceHistories {
  if (histories === null) return NO_HISTORIES;
  const ofMatching = [...decodeHistories(histories)].filter(([offset]) => isIn(set, offset));
  return new Map(ofMatching.map(([offset, history]) => [start + offset, history]));
}

const NO_HISTORIES: DeviceHistories = new Map();
