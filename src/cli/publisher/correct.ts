/** `tagcast notification correct|retract`: replaces the text of what was sent, or takes it back. */

import { randomUUID } from 'node:crypto';
import { PLATFORM_LABELS } from '../../../packages/std/src/platforms.ts';
import { PLATFORM_FLAG, readPlatform, UsageError } from '../arguments.ts';
import { verb } from '../command.ts';
import type { Work } from './publisher-command.ts';
import { PAYLOAD_FLAGS, readPayload } from './send.ts';

const JOB = '/push-api/v3/{client}/notifications/{id}';
const RESTS = ['corrected', 'stop', 'original'] as const;

type Rest = (typeof RESTS)[number];

export const correctVerb = verb(
  {
    summary: 'Replaces the text of a push on the devices that have it.',
    arguments: ['job'],
    flags: {
      ...PAYLOAD_FLAGS,
      again: { type: 'boolean', about: 'with sound, as a new message; without it quietly' },
      rest: {
        type: 'string',
        choices: RESTS,
        about: 'what those get who did not have it yet; corrected without it',
      },
    },
  },
  async ({ job: id }, { again, rest, ...given }): Promise<Work> => {
    const payload = await readPayload(given);
    const key = randomUUID();
    return async ({ tagcast, signal }) => {
      const body = {
        payload,
        alert: again === true ? ('again' as const) : ('quiet' as const),
        ...(rest === undefined ? {} : { rest: rest as Rest }),
      };
      const headers = { 'Idempotency-Key': key };
      const path = { id };
      const answer = await tagcast.request('POST', `${JOB}/correct`, {
        path,
        body,
        headers,
        signal,
      });
      return { value: answer.body, text: `${answer.body.id}  corrects ${answer.body.corrects}` };
    };
  },
);

export const retractVerb = verb(
  {
    summary: 'Takes a push back from the devices that have it, as far as their platform lets it.',
    arguments: ['job'],
    flags: {
      replace: { type: 'boolean', about: 'show --title and --message in its place everywhere' },
      title: { type: 'string', about: 'title of what browsers show in its place' },
      message: { type: 'string', about: 'text of what browsers show in its place' },
      platform: { ...PLATFORM_FLAG, multiple: true, about: 'only on this platform' },
    },
  },
  ({ job: id }, { replace, title, message, platform }): Work => {
    const hasText = title !== undefined || message !== undefined;
    if (replace === true && !hasText) {
      throw new UsageError('--title or --message is missing: what is shown in its place?');
    }
    const body = {
      mode: replace === true ? ('replace' as const) : ('remove' as const),
      ...(hasText
        ? {
            text: {
              ...(title === undefined ? {} : { title }),
              ...(message === undefined ? {} : { message }),
            },
          }
        : {}),
      ...(platform === undefined ? {} : { platformIds: platform.map(readPlatform) }),
    };
    const headers = { 'Idempotency-Key': randomUUID() };
    return async ({ tagcast, signal }) => {
      const path = { id };
      const answer = await tagcast.request('POST', `${JOB}/retract`, {
        path,
        body,
        headers,
        signal,
      });
      const promises = answer.body.promise.map(
        ({ platformId, promise }) => `  ${labelOf(platformId)}: ${PROMISES[promise]}`,
      );
      const first = `${answer.body.id}  retracts ${answer.body.retracts}`;
      return { value: answer.body, text: [first, ...promises].join('\n') };
    };
  },
);

const labelOf = (platformId: number): string => PLATFORM_LABELS.get(platformId) ?? '';

const PROMISES = {
  'best-effort': 'the app removes it when the device lets it',
  replaced: 'the other text takes its place',
  none: 'nothing is sent',
} as const;
