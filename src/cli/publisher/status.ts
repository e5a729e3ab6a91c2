/** `tagcast status`: what becomes of a push. */

import type { Command } from '../command.ts';
import { ONLY, verb } from '../command.ts';
import { describeJob, EXIT_NOTES, exitCodeOf } from './job-text.ts';
import type { PublisherContext, Session, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';
import { watchJob } from './watch-job.ts';

export const statusCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'status',
    notes: EXIT_NOTES,
    verbs: {
      [ONLY]: verb(
        {
          summary: 'Shows how a push stands, by app and platform.',
          arguments: ['job'],
          flags: {
            watch: {
              type: 'boolean',
              about: 'follow it to its end; with --json a line each time it changes',
            },
          },
        },
        ({ job }, { watch = false }): Work =>
          watch ? (session) => watchJob(session, job) : (session) => tell(session, job),
      ),
    },
  });

async function tell({ tagcast, signal }: Session, id: string) {
  const path = '/push-api/v3/{client}/notifications/{id}';
  const { body } = await tagcast.request('GET', path, { path: { id }, signal });
  return { value: body, text: describeJob(body), exitCode: exitCodeOf(body.state) };
}
