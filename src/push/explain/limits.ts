/** Finds what keeps a device out of a send besides its tags and attributes. */

import type { Scope } from '../../domain/device.ts';

export interface JudgedLimit {
  readonly kind:
    | 'app'
    | 'platform'
    | 'registered'
    | 'planned'
    | 'reached-before'
    | 'not-reached'
    | 'nobody';
  readonly operand: string;
  /** Null: there is none. */
  readonly value: number | null;
  readonly held: false;
}

interface Limited extends Scope {
  /** All that the push is for. */
  readonly scopes: readonly (readonly [appId: number, platformId: number])[];
  /** None of its target tags is known. */
  readonly isForNobody: boolean;
  /** The device has come after the job was planned. */
  readonly isLate: boolean;
  /** When the job was planned, its audience had no device of this app and platform. */
  readonly wasForNobodyHere: boolean;
  /** The job that was sent first, if that or a retry before this one has reached it; else null. */
  readonly reachedBefore: string | null;
}

/** Only those that keep it out. */
export function limitsOf({
  appId,
  platformId,
  scopes,
  isForNobody,
  isLate,
  wasForNobodyHere,
  reachedBefore,
}: Limited): readonly JudgedLimit[] {
  const platforms = scopes.filter(([app]) => app === appId).map(([, platform]) => platform);
  const apps = [...new Set(scopes.map(([app]) => app))];
  return [
    ...(platforms.length > 0 ? [] : [keptOut('app', testOf('@app', apps), appId)]),
    ...(platforms.length === 0 || platforms.includes(platformId)
      ? []
      : [keptOut('platform', testOf('@platform', platforms), platformId)]),
    ...(isLate ? [keptOut('registered', 'registered before the send', null)] : []),
    ...(wasForNobodyHere
      ? [keptOut('planned', 'somebody of this app and platform when it was planned', null)]
      : []),
    ...(reachedBefore === null
      ? []
      : [keptOut('reached-before', `not reached by ${reachedBefore} or a retry of it`, null)]),
    ...(isForNobody ? [keptOut('nobody', 'a known target tag', null)] : []),
  ];
}

/** Why a correction of this job does not go to a device. */
export const notReachedBy = (first: string): JudgedLimit =>
  keptOut('not-reached', `reached by ${first} or its chain, or left for the correction`, null);

const keptOut = (
  kind: JudgedLimit['kind'],
  operand: string,
  value: number | null,
): JudgedLimit => ({ kind, operand, value, held: false });

const testOf = (name: string, ids: readonly number[]): string =>
  ids.length === 1 ? `${name} = ${ids[0]}` : `${name} in (${ids.join(', ')})`;
