/**
 * Decides the fate of a valid push: accepted, or one of the faults of the behaviour. A script for
 * the token goes first, then the faults of the token, then those of this attempt.
 */

import type { LiveBehaviour } from '../options.ts';
import type { ProviderRecord } from '../record/record.ts';
import { draw } from './random.ts';
import type { ScriptedAnswer, Scripts } from './scripts.ts';

export type Fate =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'scripted'; readonly script: ScriptedAnswer }
  | { readonly kind: 'gone' }
  | { readonly kind: 'bad-token' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'throttled' }
  /** `variant` in [0, 1) chooses among the provider's server errors. */
  | { readonly kind: 'server-error'; readonly variant: number }
  /** A front end answers without its API, with a page of HTML. */
  | { readonly kind: 'bad-gateway' }
  /** A good credential is refused, this once. */
  | { readonly kind: 'bad-credential' }
  /** Not processed, never answered. */
  | { readonly kind: 'silence' }
  /** Accepted, never answered. */
  | { readonly kind: 'lost-answer' };

/**
 * The behaviour and scripts that decide about the pushes of one provider, and the record of them.
 */
export interface PushBook {
  readonly live: LiveBehaviour;
  readonly scripts: Scripts;
  readonly record: ProviderRecord;
}

const ACCEPTED: Fate = { kind: 'accepted' };

/** The attempt number that draws for the token itself; real attempts count from 0. */
const STICKY = -1;

/** The variant that is 503 at every provider. */
const UNAVAILABLE: Fate = { kind: 'server-error', variant: 0.5 };

/**
 * Added to an attempt, so that the choice of the error does not depend on the draw that made it
 * one.
 */
const VARIANT_OFFSET = 1_000_000_000;

/**
 * The fate of a push to this token. Shares add up in the order below; above 1 in total, the later
 * ones are cut.
 */
export function decideFate({ live, scripts, record }: PushBook, token: string): Fate {
  const script = scripts.take(token);
  if (script !== undefined) return { kind: 'scripted', script };
  if (live.outage === 'unavailable') return UNAVAILABLE;

  const { shares, silentShare, lostAnswerShare, seed } = live.current;
  const sticky = shares.gone + shares.badToken + shares.notFound;
  if (sticky > 0) {
    const drawn = draw(seed, token, STICKY);
    if (drawn < shares.gone) return { kind: 'gone' };
    if (drawn < shares.gone + shares.badToken) return { kind: 'bad-token' };
    if (drawn < sticky) return { kind: 'not-found' };
  }

  const faulty = shares.throttled + shares.serverError + silentShare;
  const answered = faulty + lostAnswerShare + shares.badGateway;
  const passing = answered + shares.badCredential;
  if (passing > 0) {
    const attempt = record.attempts(token);
    const drawn = draw(seed, token, attempt);
    if (drawn < shares.throttled) return { kind: 'throttled' };
    if (drawn < shares.throttled + shares.serverError) {
      return { kind: 'server-error', variant: draw(seed, token, attempt + VARIANT_OFFSET) };
    }
    if (drawn < faulty) return { kind: 'silence' };
    if (drawn < faulty + lostAnswerShare) return { kind: 'lost-answer' };
    if (drawn < answered) return { kind: 'bad-gateway' };
    if (drawn < passing) return { kind: 'bad-credential' };
  }
  return ACCEPTED;
}
