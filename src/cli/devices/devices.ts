/**
 * `tagcast devices …`: exports an app's devices, and imports devices, also from other engines'
 * exports.
 */

import type { EventEmitter } from 'node:events';
import type { OperatorSession } from '../../operator/operator-session.ts';
import type { PageEnd } from '../../store/devices/read-page.ts';
import type { FormatName } from '../../transfer/formats.ts';
import { FORMAT_NAMES, isFormatName } from '../../transfer/formats.ts';
import type { Command } from '../command.ts';
import type { OperatorContext } from '../operator-command.ts';
import { readFlags, readNumber, readPositionals, UsageError } from '../operator-command.ts';
import { GivenUpError } from '../patient-actions.ts';
import type { ExportFormat } from './devices-export.ts';
import { exportDevices, WRITERS } from './devices-export.ts';
import { importDevices } from './devices-import.ts';
import { openInput } from './import-input.ts';

const USAGE = `tagcast devices export <app-id> [--format ndjson|csv] [--output <file>] [--resume-from <platform>.<ordinal>]
tagcast devices import <app-id> <file|-> [--format ${FORMAT_NAMES.join('|')}]
       [--replace-tags] [--create-tags] [--bad-lines <n>] [--state <file>] [--resume-from <records>]

Export writes to standard output, or to a file; after an interruption the same command with the same file continues.
Import reads a file (also compressed, .gz) or standard input (-). After an interruption the same command continues; it keeps its
position in <file>.import-<app-id>.state, or in --state. Without --format the file's name decides (.csv, .ndjson, .jsonl).

  --replace-tags      a device that exists already loses the tags that the file does not give it
                      (default: it gains the tags of the file)
  --create-tags       creates tags that do not exist (default: each is reported once and left out)
  --bad-lines <n>     stops after more than <n> records that cannot be read (1000); each is reported and skipped
  --resume-from …     where to begin, when there is no state file

Exit code 0: everything; 1: not everything; 2: wrong arguments; 130: interrupted.`;

/** The default limit of an import: a file with more bad lines is of another format. */
const BAD_LINES_MAX = '1000';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** The source of SIGINT and SIGTERM: the process. */
export type Signals = Pick<EventEmitter, 'once' | 'off'>;

/** Makes the command. */
export const devicesCommand = (context: OperatorContext, signals: Signals): Command => ({
  usage: USAGE,
  run: (args) => run(context, signals, args),
});

type Work = (session: OperatorSession, signal: AbortSignal) => Promise<number>;

async function run(
  context: OperatorContext,
  signals: Signals,
  args: readonly string[],
): Promise<number> {
  const { terminal } = context;
  if (args.includes('--help') || args.includes('-h')) {
    terminal.print(USAGE);
    return 0;
  }
  try {
    const work = await plan(context, args);
    return await untilInterrupted(context, signals, work);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof GivenUpError)) throw error;
    terminal.complain(error.message);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

function plan(context: OperatorContext, [verb, ...args]: readonly string[]): Work | Promise<Work> {
  switch (verb) {
    case 'export':
      return planExport(context, args);
    case 'import':
      return planImport(context, args);
    default:
      throw new UsageError(`devices needs export or import\n${USAGE}`);
  }
}

const ENDING = ['SIGINT', 'SIGTERM'] as const;

/** A first signal ends the work in order; a second one ends the process. */
async function untilInterrupted(
  context: OperatorContext,
  signals: Signals,
  work: Work,
): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  for (const signal of ENDING) signals.once(signal, interrupt);
  try {
    const session = await context.open();
    try {
      return await work(session, interrupted.signal);
    } finally {
      await session.close();
    }
  } finally {
    for (const signal of ENDING) signals.off(signal, interrupt);
  }
}

function planExport({ terminal }: OperatorContext, args: readonly string[]): Work {
  const { values, positionals } = readFlags(args, {
    format: { type: 'string', default: 'ndjson' },
    output: { type: 'string' },
    'resume-from': { type: 'string' },
  });
  const { app } = readPositionals(positionals, ['app']);
  const { format, output: path = null, 'resume-from': place } = values;
  if (!isExportFormat(format)) throw new UsageError(`--format is ndjson or csv, not ${format}`);
  if (path !== null && place !== undefined) {
    throw new UsageError('--resume-from is for standard output: with --output it is not needed');
  }
  const after = place === undefined ? null : readPlace(place);
  const request = { appId: readNumber('<app-id>', app), format, path, after };
  return ({ actions }, signal) => exportDevices(actions, terminal, request, signal);
}

async function planImport({ terminal }: OperatorContext, args: readonly string[]): Promise<Work> {
  const { values, positionals } = readFlags(args, {
    format: { type: 'string' },
    'replace-tags': { type: 'boolean', default: false },
    'create-tags': { type: 'boolean', default: false },
    'bad-lines': { type: 'string', default: BAD_LINES_MAX },
    state: { type: 'string' },
    'resume-from': { type: 'string' },
  });
  const { app, file } = readPositionals(positionals, ['app', 'file']);
  const appId = readNumber('<app-id>', app);
  const isStandardInput = file === '-';
  const statePath = values.state ?? (isStandardInput ? null : `${file}.import-${appId}.state`);
  const request = {
    appId,
    format: readFormat(values.format ?? formatOf(file)),
    replacesTags: values['replace-tags'],
    createsTags: values['create-tags'],
    faultsMax: readNumber('--bad-lines', values['bad-lines']),
    statePath,
    resumeFrom: readNumber('--resume-from', values['resume-from'] ?? '0'),
  };
  const input = await openInput(file);
  return ({ actions }, signal) => importDevices(actions, terminal, input, request, signal);
}

const isExportFormat = (format: string): format is ExportFormat => Object.hasOwn(WRITERS, format);

function readFormat(name: string | null): FormatName {
  if (name !== null && isFormatName(name)) return name;
  const known = FORMAT_NAMES.join(', ');
  throw new UsageError(
    name === null ? `--format is missing: ${known}` : `--format is one of ${known}, not ${name}`,
  );
}

const EXTENSION = /\.(csv|ndjson|jsonl)(\.gz)?$/i;

function formatOf(file: string): string | null {
  const extension = EXTENSION.exec(file)?.[1]?.toLowerCase() ?? null;
  return extension === 'jsonl' ? 'ndjson' : extension;
}

const PLACE = /^(\d+)\.(\d+)$/;

function readPlace(text: string): PageEnd {
  const [, platformId, ordinal] = PLACE.exec(text) ?? [];
  if (platformId === undefined || ordinal === undefined) {
    throw new UsageError(`--resume-from must be <platform>.<ordinal>, not ${text}`);
  }
  return { platformId: Number(platformId), ordinal: Number(ordinal) };
}
