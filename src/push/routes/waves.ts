/** A push at local time: its fields, and its waves in answers. */

import { z } from 'zod';
import { localMsOf } from '../../../packages/std/src/local-time.ts';
import type { NotificationState } from '../../domain/notification.ts';
import { hasEnded } from '../../domain/notification.ts';
import type { LocalTime } from '../../domain/waves.ts';
import type { LenientReader } from '../../http/lenient.ts';
import { count, epochMs, orAbsent } from '../../http/openapi/parts.ts';
import type { KnownWave } from '../sql/waves/read-waves.ts';

const LATE = ['skip', 'send'] as const;
const LOCAL_TIME = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/);
const LATE_WORD = z.enum(LATE);

export const LOCAL_TIME_FIELDS = ['sendAtLocal', 'late'] as const;

export const localTimeRequest = {
  sendAtLocal: LOCAL_TIME.nullish().meta({
    description:
      'In place of `sendAt`: at this time where the device is, by its attribute `timezone`; the `timezone` of the policies counts for devices without one. `2026-12-01T08:00`, no zone. The job has one wave for each different moment, at most 40, and is `RUNNING` from the first to the last. A time that clocks skip is the moment of the skip; of one that they repeat it is the first. A device gets it once, also one that changes its zone meanwhile; one that moves into a zone whose wave is over gets none. Who has the tags at the moment of a wave is in it. `503` while nodes of an earlier version are at work.',
  }),
  late: LATE_WORD.nullish().meta({
    description:
      'Devices whose time has passed when the push is accepted: `skip`, the default, they get nothing and are not counted; `send`, they get it at once.',
  }),
};

/** Undefined: it has one moment. */
export function readLocalTime(
  reader: LenientReader,
  body: Readonly<Record<string, unknown>>,
): LocalTime | undefined {
  const text = body['sendAtLocal'];
  const late = reader.choice('late', LATE);
  if (text === undefined || text === null) {
    if (late !== LATE[0]) reader.fault('late', 'goes with sendAtLocal.');
    return undefined;
  }
  for (const name of ['sendAt', 'holdSeconds']) {
    if (body[name] !== undefined && body[name] !== null) {
      reader.fault('sendAtLocal', `cannot stand beside ${name}.`);
    }
  }
  if (typeof text !== 'string' || localMsOf(text) === null) {
    reader.fault('sendAtLocal', 'must be a local time without a zone, as 2026-12-01T08:00.');
    return undefined;
  }
  return { sendAtLocal: text, sendsLate: late === 'send' };
}

const WAVE_STATES = ['SCHEDULED', 'RUNNING', 'FINISHED', 'CANCELLED', 'SKIPPED'] as const;

export const waveAnswers = {
  sendAtLocal: orAbsent(
    LOCAL_TIME.meta({
      description:
        'It is sent at this time where the device is. `sendAt` is then the moment of its newest wave, or of the first one.',
    }),
  ),
  late: LATE_WORD.optional(),
  waves: z
    .array(
      z.object({
        at: epochMs,
        zones: z.array(z.string()),
        withoutTimezone: z.literal(true).optional().meta({
          description: 'Devices without a time zone are in it.',
        }),
        state: z.enum(WAVE_STATES).meta({
          description:
            '`SKIPPED`: the time had passed when the push was accepted, and `late` did not ask for it.',
        }),
        counts: z.object({
          totalCount: count.meta({ description: 'Devices that matched in this wave so far.' }),
        }),
      }),
    )
    .optional()
    .meta({
      description:
        'Of a push at local time: its moments, in order. What became of the devices is in the counts of the job.',
    }),
  nextWaveAt: orAbsent(epochMs.meta({ description: 'When its next wave begins.' })),
};

interface WavedJob {
  readonly state: NotificationState;
  readonly sendAtLocal: string | null;
  readonly sendsLate: boolean | null;
  readonly waves: readonly KnownWave[];
}

/** `parts`: in how many (app, platform)s a wave is planned. Nothing of a job with one moment. */
export function waveFields({ state, sendAtLocal, sendsLate, waves }: WavedJob, parts: number) {
  if (sendAtLocal === null) return { sendAtLocal, nextWaveAt: null };
  const shown = waves.map((wave) => ({ wave, state: stateOf(wave, state, parts) }));
  const next = shown.find((one) => one.state === 'SCHEDULED');
  return {
    sendAtLocal,
    late: LATE[sendsLate === true ? 1 : 0],
    waves: shown.map(({ wave: { at, zones, hasOthers, total }, state }) => ({
      at,
      zones,
      ...(hasOthers ? { withoutTimezone: true as const } : {}),
      state,
      counts: { totalCount: total },
    })),
    nextWaveAt: next?.wave.at ?? null,
  };
}

function stateOf(
  { isSkipped, planned, isUnderWay }: KnownWave,
  state: NotificationState,
  parts: number,
): (typeof WAVE_STATES)[number] {
  if (isSkipped) return 'SKIPPED';
  if (isUnderWay) return 'RUNNING';
  if (planned >= parts && planned > 0) return 'FINISHED';
  if (hasEnded(state)) return planned > 0 ? 'FINISHED' : 'CANCELLED';
  return planned > 0 ? 'RUNNING' : 'SCHEDULED';
}
