/** `tagcast notification …`: the push jobs of a client. */

import type {
  ListedNotification,
  NotificationState,
} from '../../../packages/client/src/openapi.ts';
import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import { NOTIFICATION_STATES } from '../../domain/notification.ts';
import { PLATFORM_FLAG, readNumber, readPlatform } from '../arguments.ts';
import type { Command, Verb } from '../command.ts';
import { verb } from '../command.ts';
import { correctVerb, retractVerb } from './correct.ts';
import { describeListed } from './job-text.ts';
import type { PublisherContext, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';

const JOBS = '/push-api/v3/{client}/notifications';
const LIMIT = '20';

export const notificationCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'notification',
    verbs: {
      list: verb(
        {
          summary: 'Lists push jobs, newest first.',
          flags: {
            state: { type: 'string', choices: NOTIFICATION_STATES, about: 'only in this state' },
            app: { type: 'string', value: 'app', about: 'only those that could go to this app' },
            limit: { type: 'string', value: 'n', default: LIMIT, about: 'how many at most' },
          },
        },
        (_, { state, app, limit }) => {
          const query = {
            ...(state === undefined ? {} : { state: state as NotificationState }),
            ...(app === undefined ? {} : { appId: readNumber('--app', app) }),
          };
          return list(query, readNumber('--limit', limit));
        },
      ),
      cancel: order('cancel', 'Sends nothing more; what was handed over is counted.'),
      pause: order('pause', 'Sends nothing until it is resumed.'),
      resume: order('resume', 'Goes on with a paused push.'),
      retry: verb(
        {
          summary: 'Sends a push again where devices have failed, without those who have it.',
          arguments: ['job'],
          flags: {
            platform: { ...PLATFORM_FLAG, multiple: true, about: 'only on this platform' },
          },
        },
        ({ job }, { platform }) => retry(job, platform?.map(readPlatform)),
      ),
      correct: correctVerb,
      retract: retractVerb,
    },
  });

const list =
  (query: { readonly state?: NotificationState; readonly appId?: number }, limit: number): Work =>
  async ({ tagcast, signal }) => {
    const rows: ListedNotification[] = [];
    if (limit > 0) {
      const page = { ...query, limit: Math.min(limit, PAGE_ROWS_MAX) };
      for await (const row of tagcast.rows(JOBS, { query: page, signal })) {
        if (rows.push(row) === limit) break;
      }
    }
    return {
      value: rows,
      text: rows.length === 0 ? 'There is no push.' : rows.map(describeListed).join('\n'),
    };
  };

/** @limit rows of a page of `notification list` → the next page */
const PAGE_ROWS_MAX = 1_000;

const retry =
  (id: string, platformIds: readonly PlatformId[] | undefined): Work =>
  async ({ tagcast, signal }) => {
    const path = '/push-api/v3/{client}/notifications/{id}/retry';
    const body = platformIds === undefined ? {} : { platformIds: [...platformIds] };
    const answer = await tagcast.request('POST', path, { path: { id }, body, signal });
    return { value: answer.body, text: `${answer.body.id}  retries ${answer.body.retries}` };
  };

const order = (what: 'cancel' | 'pause' | 'resume', summary: string): Verb<Work> =>
  verb(
    { summary, arguments: ['job'] },
    ({ job: id }): Work =>
      async ({ tagcast, signal }) => {
        const path = `/push-api/v3/{client}/notifications/{id}/${what}` as const;
        const { body } = await tagcast.request('POST', path, { path: { id }, signal });
        return { value: body, text: `${body.id}  ${body.state}` };
      },
  );
