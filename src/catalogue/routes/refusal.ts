/** How it is answered that a tag, group or app was not made, changed or deleted. */

import type { Refusal as Answer, Result } from '../../http/result.ts';
import { done, refuse, refused } from '../../http/result.ts';
import type { AppRefusal } from '../apps.ts';
import type { Outcome, Refusal } from '../outcome.ts';

/** Unknown, deleted, or another client's. */
export const NO_APP = refuse.unknown('app');
export const NO_TAG = refused(404, 'This client has no tag or group with this id or sourceId.');

/** Until then housekeeping has gone on with it. */
const LEAVING_SECONDS = '10';

export const resultOf = <T>(outcome: Outcome<T>): Result<T> =>
  outcome.ok ? done(outcome.value) : refusalOf(outcome.refusal);

export const appRefusal = (refusal: AppRefusal): Answer =>
  refusal.kind === 'over-limit'
    ? refuse.overLimit(refusal.over)
    : refuse.invalid([{ path: '', message: refusal.why }]);

function refusalOf(refusal: Refusal): Answer {
  switch (refusal.kind) {
    case 'invalid':
      return refuse.invalid(refusal.faults);
    case 'outside':
      return refuse.outside(refusal.path);
    case 'over-limit':
      return refuse.overLimit(refusal.over);
    case 'taken':
      return refused(409, 'Another tag or group has this sourceId.');
    case 'unknown':
      return NO_TAG;
    case 'in-use':
      return refused(
        409,
        `Operation ${refusal.operationId} still needs the members of this tag: delete the tag when it has ended, or cancel it.`,
      );
    case 'leaving':
      return refused(
        409,
        `Tag ${refusal.tagId} was disconnected from app ${refusal.appId} and is still being taken off its devices there: connect it when removals no longer lists it.`,
        { headers: { 'Retry-After': LEAVING_SECONDS } },
      );
    case 'not-empty':
      return refused(409, 'This group is not empty.');
  }
}
