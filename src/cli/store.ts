/** `tagcast store move`: brings everything from the embedded database to a PostgreSQL, or back. */

import type { Moved, MoveReport, MoveStep } from '../database/move/move.ts';
import { counted } from '../std/counted.ts';
import { required } from './arguments.ts';
import type { Command } from './command.ts';
import { createCommand, printedJson, verb, withJson } from './command.ts';
import { Progress } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** The extent of the move, and what an engine on the new place needs. */
export type MovedTo = Moved &
  (
    | {
        readonly kind: 'postgres';
        /** The database, without its password. */
        readonly place: string;
        /** The directory that everything has left. */
        readonly dataDir: string;
        /** The file with the secret key; null: it is in the settings. */
        readonly secretKeyPath: string | null;
      }
    | { readonly kind: 'directory'; readonly dataDir: string }
  );

export interface StoreContext {
  move(to: string, report: MoveReport): Promise<MovedTo>;
  readonly terminal: Pick<Terminal, 'print' | 'complain' | 'note' | 'progress'>;
}

const NOTES = `--to postgres://… takes the embedded database of DATA_DIR there; --to <directory> makes an embedded database of the one that
DATABASE_URL names. The engine is stopped. The target is empty, or has the tables of this version and no client. Everything
comes along: devices, tags, credentials, keys, members, webhooks, templates, push jobs (scheduled ones stay scheduled),
statistics, the audit log. All rows are compared afterwards; nothing is changed at the source. Broken off at any point, even by
kill -9, the target is as empty as before: run it again. Afterwards it prints which settings the engine needs.`;

export const storeCommand = ({ move, terminal }: StoreContext): Command =>
  createCommand<string>(
    {
      name: 'store',
      verbs: withJson({
        move: verb(
          {
            summary: 'Brings everything from the embedded database to a PostgreSQL, or back.',
            flags: {
              to: {
                type: 'string',
                value: 'place',
                about:
                  'URL of an empty PostgreSQL (PGPASSWORD may have its password), or a directory',
              },
            },
            notes: NOTES,
          },
          (_, { to }) => required('to', to),
        ),
      }),
    },
    terminal,
    async (to, { isJson }) => {
      const progress = new Progress(terminal.progress, 'row');
      const moved = await move(to, {
        step(step) {
          progress.clear();
          terminal.note(STEPS[step]);
        },
        copied: (rows, total) => progress.show({ done: rows, total, count: rows }),
      });
      terminal.print(isJson ? printedJson(moved) : describe(moved));
      return 0;
    },
  );

const STEPS: Readonly<Record<MoveStep, string>> = {
  look: 'Looking at both databases.',
  prepare: 'Counting rows.',
  copy: 'Copying.',
  compare: 'Comparing the copy with its source.',
  connect: 'Checking the references between tables.',
  commit: 'Making it valid.',
};

function describe(moved: MovedTo): string {
  const head = `${counted(moved.rows, 'row')} of ${counted(moved.tables, 'table')} were copied, and compared with their source.`;
  return [head, '', ...(moved.kind === 'postgres' ? ofPostgres(moved) : ofDirectory(moved))].join(
    '\n',
  );
}

const ofPostgres = ({
  place,
  dataDir,
  secretKeyPath,
}: MovedTo & { readonly kind: 'postgres' }): readonly string[] => [
  'Start the engine with these settings, the same on every node:',
  `  DATABASE_URL  the URL of --to (${place})`,
  secretKeyPath === null
    ? '  SECRET_KEY    the one that the engine has had'
    : `  SECRET_KEY    what ${secretKeyPath} holds: SECRET_KEY="$(cat '${secretKeyPath}')"`,
  '',
  `Start none on ${dataDir} any more: it would send again what is scheduled and under way. Keep it as a backup.`,
];

const ofDirectory = ({ dataDir }: MovedTo): readonly string[] => [
  'Start the engine with these settings:',
  `  DATA_DIR      ${dataDir}, which has the secret key, too`,
  '  DATABASE_URL and SECRET_KEY not set',
  '',
  'Start it only in place of the engine on DATABASE_URL: both would send what is scheduled and under way.',
];
