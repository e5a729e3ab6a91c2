/** Why a tag, group or app was not made, changed or deleted, and how that is answered. */

import type { OverLimit } from '../../domain/client-limits.ts';
import { tooMuch } from '../../http/beyond-limit.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { invalid } from '../../http/json-body.ts';
import { outside } from '../../http/outside.ts';
import type { Fault } from '../../http/problem.ts';
import { problem } from '../../http/problem.ts';
import type { AppRefusal } from '../apps.ts';
import type { Leaving } from '../sql/removals.ts';
import { notFound } from './find-named.ts';

type Refusal =
  | { readonly kind: 'invalid'; readonly faults: readonly Fault[] }
  /** The caller's key has limits, and this is not within them. */
  | { readonly kind: 'outside'; readonly path: string }
  /** The client has as much of it as it may. */
  | { readonly kind: 'over-limit'; readonly over: OverLimit }
  /** Another one has the sourceId. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'unknown' }
  /** An operation on the members of the tag has not ended. */
  | { readonly kind: 'in-use'; readonly operationId: number }
  /** Devices of the app may still have the tag, which was disconnected there. */
  | ({ readonly kind: 'leaving'; readonly tagIds: readonly number[] } & Leaving)
  /** A group with tags or groups in it. */
  | { readonly kind: 'not-empty' };

/** What was done, or why it was not. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const refused = (refusal: Refusal): Outcome<never> => ({ ok: false, refusal });

/** Why an app was not made. */
export const appRefusal = (refusal: AppRefusal): Refusal =>
  refusal.kind === 'over-limit'
    ? refusal
    : { kind: 'invalid', faults: [{ path: '', message: refusal.why }] };

/** By then housekeeping has gone on with it. */
const LEAVING_SECONDS = '10';

/** The answer to who asked for it. */
export function refuse(request: HttpRequest, refusal: Refusal): HttpResponse {
  switch (refusal.kind) {
    case 'invalid':
      return invalid(request, refusal.faults);
    case 'outside':
      return outside(request, refusal.path);
    case 'over-limit':
      return tooMuch(request.requestId, refusal.over);
    case 'taken':
      return problem(request.requestId, 409, 'Another tag or group has this sourceId.');
    case 'unknown':
      return notFound(request);
    case 'in-use':
      return problem(
        request.requestId,
        409,
        `Operation ${refusal.operationId} still needs the members of this tag: delete the tag when it has ended, or cancel it.`,
      );
    case 'leaving':
      return problem(
        request.requestId,
        409,
        `Tag ${refusal.tagId} was disconnected from app ${refusal.appId} and is still being taken off its devices there: connect it when removals no longer tells of it.`,
        { headers: { 'Retry-After': LEAVING_SECONDS } },
      );
    case 'not-empty':
      return problem(request.requestId, 409, 'This group is not empty.');
  }
}
