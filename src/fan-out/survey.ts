/**
 * Looks where the audiences of due notifications are before they are planned, so that a tag of ten devices among ten million becomes
 * ten chunks and not 1,221. It happens outside of any transaction and holds nothing: what it finds out is true of the versions
 * that it asked about, and the statement that plans leaves out only groups that still have them.
 */

import { scopeKeyOf } from '../domain/device.ts';
import type { RaisedGroup } from '../domain/group-change.ts';
import { groupKeyOf } from '../domain/group-change.ts';
import { within } from '../std/within.ts';
import type { DueScope } from '../store/notifications/list-due.ts';
import { listDue, listGroupsOfScopes } from '../store/notifications/list-due.ts';
import type { Survey, VacantGroup } from '../store/notifications/plan-due.ts';
import { PLANNED_AT_ONCE_MAX } from '../store/notifications/plan-due.ts';
import type { Sql } from '../store/sql.ts';
import type { TagIndex } from '../tag-index/tag-index.ts';

/** So few chunks cost no more than the question whether they are needed. */
const GROUPS_UNASKED_MAX = 4;
/** Of all scopes of a survey: eight of a hundred million devices each. What is beyond is planned without asking. */
const GROUPS_ASKED_MAX = 100_000;
/** An index that hangs must not hold up what it only makes quicker. */
const ANSWER_MS_MAX = 500;

/** Null: nothing is due. */
export async function surveyDue(sql: Sql, tagIndex: TagIndex): Promise<Survey | null> {
  const due = await listDue(sql, PLANNED_AT_ONCE_MAX);
  if (due.length === 0) return null;
  const groupsOf = await readGroups(sql, due);
  let left = GROUPS_ASKED_MAX;
  const questions: Promise<readonly VacantGroup[]>[] = [];
  for (const scope of due) {
    const groups = groupsOf.get(scopeKeyOf(scope)) ?? [];
    if (groups.length <= GROUPS_UNASKED_MAX || groups.length > left) continue;
    left -= groups.length;
    questions.push(findVacant(tagIndex, scope, groups));
  }
  const notificationIds = [...new Set(due.map(({ notificationId }) => notificationId))];
  return { notificationIds, vacant: (await Promise.all(questions)).flat() };
}

/** Those of the groups in which nobody is meant. */
async function findVacant(
  tagIndex: TagIndex,
  scope: DueScope,
  groups: readonly RaisedGroup[],
): Promise<readonly VacantGroup[]> {
  const answer = await within(ANSWER_MS_MAX, tagIndex.occupiedGroups(scope, groups), null);
  if (answer === null) return [];
  const occupied = new Set(answer.map(groupKeyOf));
  const { notificationId } = scope;
  return groups
    .filter((group) => !occupied.has(groupKeyOf(group)))
    .map((group) => ({ ...group, notificationId }));
}

async function readGroups(
  sql: Sql,
  due: readonly DueScope[],
): Promise<ReadonlyMap<string, readonly RaisedGroup[]>> {
  const scopes = new Map(due.map((scope) => [scopeKeyOf(scope), scope]));
  const groups = new Map<string, RaisedGroup[]>();
  for (const group of await listGroupsOfScopes(sql, [...scopes.values()])) {
    const known = groups.get(scopeKeyOf(group));
    if (known === undefined) groups.set(scopeKeyOf(group), [group]);
    else known.push(group);
  }
  return groups;
}
