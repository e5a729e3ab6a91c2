/** A push as a publisher asks for it, read and checked as far as that goes without the database. */

import type { JsonObject } from '../../../packages/std/src/json.ts';
import type { AudienceExpression } from '../../domain/audience-expression.ts';
import type { Payload, Selector } from '../../domain/notification.ts';
import type { PushPolicy } from '../../domain/policies.ts';
import type { PushOptions } from '../../domain/push-options.ts';
import type { LocalTime, PushWaves } from '../../domain/waves.ts';

/** The union of the tags with these ids and these source ids. */
export interface TagReferences {
  readonly ids: readonly number[];
  readonly sourceIds: readonly string[];
}

export interface Push extends Readonly<Record<Selector, TagReferences>> {
  readonly options: PushOptions;
  /** The category that it names. Absent: the default one. */
  readonly category?: string;
  /** It leaves no device out because of caps. */
  readonly ignoresCaps?: true;
  /** The policy that its client has for that. Absent: there is none. */
  readonly policy?: PushPolicy;
  /** Whom it is for, in place of the three selections, which then are empty. */
  readonly expression?: AudienceExpression;
  /** Null: every app that is connected to the target tags. */
  readonly appIds: readonly number[] | null;
  /** Null: every platform. */
  readonly platformIds: readonly number[] | null;
  /** The apps that its publisher may address; one that is gone covers nothing. Absent: all. */
  readonly appLimit?: readonly number[];
  readonly payload: Payload;
  /** The payload as written, for templates. Absent: only the audience is asked for. */
  readonly given?: JsonObject;
  /** Why it cannot be sent without a template. Then `payload` has it as data. */
  readonly formFaults?: readonly PushFault[];
  /** Null: now. */
  readonly sendAtMs: number | null;
  /** So long after it is accepted, by the database's time; `sendAtMs` is then about that. */
  readonly holdSeconds?: number;
  readonly expiresAtMs: number | null;
  /** The moments of the devices' clocks are looked for. Absent: `sendAtMs` is the only one. */
  readonly localTime?: LocalTime;
  /** It has several moments, of which `sendAtMs` is the first. Absent: that is its only one. */
  readonly waves?: PushWaves;
}

/** One thing wrong with a push: where, and a sentence. */
export interface PushFault {
  readonly path: string;
  readonly message: string;
  /** Where in a text, in UTF-16 code units from 0. */
  readonly position?: number;
}
