/** The tag index without Redis: every question is one statement on the truth itself, so it is always current. */

import type { PlatformOfApp } from '../../domain/device.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';
import type { RaisedGroup } from '../../domain/group-change.ts';
import { groupKeyOf } from '../../domain/group-change.ts';
import type { Audience } from '../../domain/notification.ts';
import type { Sql } from '../../store/sql.ts';
import { isNobody } from '../audience.ts';
import type {
  DeviceNotes,
  DeviceRun,
  PresentDevices,
  ResolveRequest,
  TagIndex,
} from '../tag-index.ts';
import { NOBODY } from '../tag-index.ts';
import { countMatching } from './count-matching.ts';
import { occupiedGroups } from './occupied-groups.ts';
import { recheckOrdinals } from './recheck-ordinals.ts';
import type { NoteRow } from './resolve-group.ts';
import { resolveGroup } from './resolve-group.ts';

/** Look-ups by key for one question, some tens of milliseconds: 1,221 groups (ten million devices) by 16 tags. */
const HOPS_MAX = 20_000;
const NO_NOTES: DeviceNotes = new Map();

export class SqlTagIndex implements TagIndex {
  private readonly sql: Sql;

  constructor(sql: Sql) {
    this.sql = sql;
  }

  async resolve({ group, audience, ordinalEnd }: ResolveRequest): Promise<DeviceRun> {
    const start = group.groupNumber * GROUP_DEVICES;
    const end = Math.min(start + GROUP_DEVICES, ordinalEnd);
    if (isNobody(audience) || end <= start) return NOBODY;
    const { ordinals, deviceIds, notes } = await resolveGroup(
      this.sql,
      group,
      { start, end },
      audience,
    );
    if (ordinals === null || deviceIds === null) return NOBODY;
    return {
      offsets: Uint16Array.from(ordinals, (ordinal) => ordinal - start),
      deviceIds,
      notes: notes === null ? NO_NOTES : notesOf(notes),
    };
  }

  async recheck(
    scope: PlatformOfApp,
    ordinals: readonly number[],
    audience: Audience,
  ): Promise<PresentDevices> {
    if (isNobody(audience) || ordinals.length === 0) {
      return { deviceIds: new Map(), notes: NO_NOTES };
    }
    const rows = await recheckOrdinals(this.sql, scope, ordinals, audience);
    const noted = rows.filter(({ refusals, environment }) => refusals > 0 || environment !== null);
    return {
      deviceIds: new Map(rows.map(({ ordinal, deviceId }) => [ordinal, deviceId])),
      notes: notesOf(noted.map((row) => [row.ordinal, row.refusals, row.environment])),
    };
  }

  count(sql: Sql, scope: PlatformOfApp, audience: Audience): Promise<number> {
    return isNobody(audience) ? Promise.resolve(0) : countMatching(sql, scope, audience);
  }

  /** Of plain audiences, within a bound; of others to look is as dear as to resolve. */
  async occupiedGroups(
    { anyTagIds, allTagIds, noneTagIds }: Audience,
    groups: readonly RaisedGroup[],
  ): Promise<readonly RaisedGroup[] | null> {
    if (allTagIds.length + noneTagIds.length > 0) return null;
    if (anyTagIds.length * groups.length > HOPS_MAX) return null;
    const occupied = new Set((await occupiedGroups(this.sql, anyTagIds, groups)).map(groupKeyOf));
    return groups.filter((group) => occupied.has(groupKeyOf(group)));
  }
}

const notesOf = (rows: readonly NoteRow[]): DeviceNotes =>
  new Map(rows.map(([ordinal, refusals, environment]) => [ordinal, { refusals, environment }]));
