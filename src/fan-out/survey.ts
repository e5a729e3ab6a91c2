/**
 * Looks where the audiences of due notifications are before they are planned, so that a tag of ten devices among ten million becomes
 * ten chunks and not 1,221. It happens outside of any transaction and holds nothing: what it finds out is true of the versions
 * that it asked about, and the statement that plans leaves out only groups that still have them.
 */

import type { PlatformOfApp } from '../domain/device.ts';
import { scopeKeyOf } from '../domain/device.ts';
import type { RaisedGroup } from '../domain/group-change.ts';
import type { Audience } from '../domain/notification.ts';
import { within } from '../std/within.ts';
import type { DueScope, ScopeGroups } from '../store/notifications/list-due.ts';
import { listDue, listGroupsOfScopes } from '../store/notifications/list-due.ts';
import type { Survey, VacantGroups } from '../store/notifications/plan-due.ts';
import { PLANNED_AT_ONCE_MAX } from '../store/notifications/plan-due.ts';
import type { Sql } from '../store/sql.ts';
import type { TagIndex } from '../tag-index/tag-index.ts';

/** So few chunks cost no more than the question whether they are needed. */
const GROUPS_UNASKED_MAX = 4;
/** Of all scopes of a survey: eight of a hundred million devices each. What is beyond is planned without asking. */
const GROUPS_ASKED_MAX = 100_000;
/** An index that hangs must not hold up what it only makes quicker. */
const ANSWER_MS_MAX = 500;

/** A push that is due as soon as it is accepted. */
export interface ExpectedPush {
  readonly notificationId: string;
  readonly audience: Audience;
  readonly scopes: readonly PlatformOfApp[];
}

/** Of all that is due; null: nothing is. */
export async function surveyDue(sql: Sql, tagIndex: TagIndex): Promise<Survey | null> {
  const { notificationIds, scopes, groups } = await listDue(sql, PLANNED_AT_ONCE_MAX);
  if (notificationIds.length === 0) return null;
  return { notificationIds, vacant: await survey(tagIndex, scopes, groups) };
}

/** Of one that is being accepted meanwhile. */
export async function surveyAhead(
  sql: Sql,
  tagIndex: TagIndex,
  { notificationId, audience, scopes }: ExpectedPush,
): Promise<Survey> {
  const groups = await listGroupsOfScopes(sql, scopes);
  const due = scopes.map((scope) => ({ ...scope, ...audience, notificationId }));
  return { notificationIds: [notificationId], vacant: await survey(tagIndex, due, groups) };
}

async function survey(
  tagIndex: TagIndex,
  scopes: readonly DueScope[],
  groups: readonly ScopeGroups[],
): Promise<readonly VacantGroups[]> {
  const groupsOf = new Map(groups.map((ofScope) => [scopeKeyOf(ofScope), raisedGroups(ofScope)]));
  let left = GROUPS_ASKED_MAX;
  const questions: Promise<VacantGroups | null>[] = [];
  for (const scope of scopes) {
    const raised = groupsOf.get(scopeKeyOf(scope)) ?? [];
    if (raised.length <= GROUPS_UNASKED_MAX || raised.length > left) continue;
    left -= raised.length;
    questions.push(findVacant(tagIndex, scope, raised));
  }
  return (await Promise.all(questions)).filter((vacant) => vacant !== null);
}

const raisedGroups = ({ appId, platformId, groups }: ScopeGroups): readonly RaisedGroup[] =>
  groups.map(([groupNumber, version]) => ({ appId, platformId, groupNumber, version }));

/** Those of the groups in which nobody is meant. Null: the index cannot tell. */
async function findVacant(
  tagIndex: TagIndex,
  { notificationId, appId, platformId, ...audience }: DueScope,
  groups: readonly RaisedGroup[],
): Promise<VacantGroups | null> {
  const answer = await within(ANSWER_MS_MAX, tagIndex.occupiedGroups(audience, groups), null);
  if (answer === null) return null;
  const occupied = new Set(answer.map(({ groupNumber }) => groupNumber));
  const vacant = groups.filter(({ groupNumber }) => !occupied.has(groupNumber));
  return {
    notificationId,
    appId,
    platformId,
    groupNumbers: vacant.map(({ groupNumber }) => groupNumber),
    versions: vacant.map(({ version }) => version),
  };
}
