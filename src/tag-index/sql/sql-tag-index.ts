/** The tag index without Redis: statements on the data itself, so it is always current. */

import type { Sql } from '../../database/sql.ts';
import { isNobody } from '../../domain/audience.ts';
import type { Scope } from '../../domain/device.ts';
import { BLOCK_DEVICES, GROUP_DEVICES } from '../../domain/device.ts';
import type { Audience } from '../../domain/notification.ts';
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
import { NOBODY, TOKEN_BYTES_MAX } from '../tag-index.ts';
import { countMatching } from './count-matching.ts';
import { recheckOrdinals } from './recheck-ordinals.ts';
import type { HistoryRow } from './resolve-group.ts';
import { resolveGroup } from './resolve-group.ts';
import { withGone } from './with-gone.ts';

const NO_HISTORIES: DeviceHistories = new Map();

export class SqlTagIndex implements TagIndex {
  private readonly sql: Sql;
  private readonly meter: ResolveMeter;

  /** `meter` counts the groups that it resolves. Absent: they are not counted. */
  constructor(sql: Sql, meter = new ResolveMeter()) {
    this.sql = sql;
    this.meter = meter;
  }

  /** If all tokens are too large together, answers as many blocks as fit. */
  async resolve(request: ResolveRequest): Promise<DeviceRun> {
    const { group, audience, ordinalEnd, firstOffset = 0, named } = request;
    const groupStart = group.groupNumber * GROUP_DEVICES;
    const start = groupStart + firstOffset;
    const groupEnd = Math.min(groupStart + GROUP_DEVICES, ordinalEnd);
    if (isNobody(audience) || groupEnd <= start) return NOBODY;
    const startedMs = performance.now();
    let end = groupEnd;
    let found = await resolveGroup(this.sql, group, { start, end }, request);
    while (found.bytes > TOKEN_BYTES_MAX) {
      end = start + BLOCK_DEVICES * blocksThatFit(end - start, found.bytes);
      found = await resolveGroup(this.sql, group, { start, end }, request);
    }
    this.meter.databaseSeconds.observe((performance.now() - startedMs) / 1_000);
    const { ordinals, deviceIds, histories, languages } = found;
    const rest = end < groupEnd ? { endOffset: end - groupStart } : {};
    const run: DeviceRun =
      ordinals === null || deviceIds === null
        ? { ...NOBODY, ...rest }
        : {
            offsets: Uint16Array.from(ordinals, (ordinal) => ordinal - groupStart),
            deviceIds,
            histories: histories === null ? NO_HISTORIES : historiesOf(histories),
            ...(languages ? { languages: Uint8Array.from(languages) } : {}),
            ...rest,
          };
    return named === undefined
      ? run
      : withGone(run, named, { first: start - groupStart, end: end - groupStart });
  }

  async recheck(
    scope: Scope,
    ordinals: readonly number[],
    audience: Audience,
    askedLanguages: AskedLanguages = [],
  ): Promise<PresentDevices> {
    if (isNobody(audience) || ordinals.length === 0) {
      return { deviceIds: new Map(), histories: NO_HISTORIES };
    }
    const rows = await recheckOrdinals(this.sql, scope, ordinals, audience, askedLanguages);
    const noted = rows.filter(({ refusals, environment }) => refusals > 0 || environment !== null);
    return {
      deviceIds: new Map(rows.map(({ ordinal, deviceId }) => [ordinal, deviceId])),
      histories: historiesOf(noted.map((row) => [row.ordinal, row.refusals, row.environment])),
      ...(askedLanguages.length === 0
        ? {}
        : { languages: new Map(rows.map(({ ordinal, language = 0 }) => [ordinal, language])) }),
    };
  }

  async count(
    sql: Sql,
    scope: Scope,
    audience: Audience,
    groupsMax = Number.POSITIVE_INFINITY,
  ): Promise<DeviceCount> {
    if (isNobody(audience)) return projected(0, 0, 0);
    const groups = await listTaggedGroups(sql, scope, audience);
    const sample = sampleOf(groups, groupsMax);
    const found = await countMatching(sql, scope, sample, audience);
    return projected(found, sample.length, groups.length);
  }
}

/** Blocks that fit, of a range with `bytes` octets: at least one, which always fits. */
function blocksThatFit(devices: number, bytes: number): number {
  const blocks = Math.ceil(devices / BLOCK_DEVICES);
  return Math.max(1, Math.min(blocks - 1, Math.floor((blocks * TOKEN_BYTES_MAX) / bytes)));
}

const historiesOf = (rows: readonly HistoryRow[]): DeviceHistories =>
  new Map(rows.map(([ordinal, refusals, environment]) => [ordinal, { refusals, environment }]));
