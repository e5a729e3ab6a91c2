/** `tagcast devices …`: exports devices, and imports them, also from other engines' exports. */

import type { FormatName } from '../../../packages/device-files/src/formats.ts';
import { FORMAT_NAMES, isFormatName } from '../../../packages/device-files/src/formats.ts';
import type { PageEnd } from '../../devices/sql/read-page.ts';
import { readNumber, UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { createCommand, EXIT_FAILED, verb } from '../command.ts';
import type { Signals } from '../interruption.ts';
import { interruptible } from '../interruption.ts';
import type { OperatorContext, OperatorSession } from '../operator-command.ts';
import { GivenUpError } from '../patient-requests.ts';
import { readAttributeChoice } from './attribute-choice.ts';
import type { ExportFormat } from './devices-export.ts';
import { exportDevices, WRITERS } from './devices-export.ts';
import { importDevices } from './devices-import.ts';
import { openInput } from './import-input.ts';
import { previewImport } from './import-preview.ts';
import { readTagChoice } from './tag-choice.ts';

const EXIT_CODES =
  'Exit code 0: everything; 1: not everything; 2: wrong arguments; 130: interrupted.';

/**
 * A file with more bad lines is of another format.
 * @limit bad records of an import, where `--bad-lines` names no other number → the import stops
 */
const BAD_LINES_MAX = '1000';

const EXPORT_FLAGS = {
  format: {
    type: 'string',
    default: 'ndjson',
    choices: Object.keys(WRITERS),
    about: 'format of the file',
  },
  output: { type: 'string', value: 'file', about: 'the file; else standard output' },
  'resume-from': {
    type: 'string',
    value: 'platform.ordinal',
    about: 'where to begin, on standard output',
  },
} as const;

const IMPORT_FLAGS = {
  format: {
    type: 'string',
    choices: FORMAT_NAMES,
    about: "format of the file; else its name's ending decides",
  },
  'replace-tags': {
    type: 'boolean',
    default: false,
    about: 'a device that exists already loses the tags that the file does not give it',
  },
  'create-tags': {
    type: 'boolean',
    default: false,
    about: 'create tags that do not exist; else each is reported once and left out',
  },
  tags: {
    type: 'string',
    value: 'a,b',
    about: 'only these tags of the file: `a` is the tag a and every a:…, `a*` what begins with it',
  },
  'without-tags': { type: 'string', value: 'c', about: 'these tags of the file are left out' },
  attributes: {
    type: 'string',
    value: 'a,b=c',
    about:
      'attributes to make of properties of the file, which are no tags then: a of the property a, b of c',
  },
  'without-attributes': {
    type: 'string',
    value: 'd',
    about: 'these attributes of the file are left out; `*`: all of them',
  },
  'dry-run': {
    type: 'boolean',
    default: false,
    about: 'change nothing, and show devices, what is skipped and why, and tags by key',
  },
  'bad-lines': {
    type: 'string',
    value: 'n',
    default: BAD_LINES_MAX,
    about: 'stop after more records than this that cannot be read',
  },
  state: { type: 'string', value: 'file', about: 'where the position is kept' },
  'resume-from': {
    type: 'string',
    value: 'records',
    about: 'where to begin, when there is no state file',
  },
  json: { type: 'boolean', default: false, about: 'print the summary as JSON, for programs' },
} as const;

interface ImportValues {
  readonly format?: string | undefined;
  readonly 'replace-tags': boolean;
  readonly 'create-tags': boolean;
  readonly tags?: string | undefined;
  readonly 'without-tags'?: string | undefined;
  readonly attributes?: string | undefined;
  readonly 'without-attributes'?: string | undefined;
  readonly 'dry-run': boolean;
  readonly 'bad-lines': string;
  readonly state?: string | undefined;
  readonly 'resume-from'?: string | undefined;
  readonly json: boolean;
}

const IMPORT_NOTES = `Reads a file, also compressed (.gz), or standard input (-). After an interruption the same command continues; it keeps its
position in <file>.import-<app>.state, or in --state. A device that exists already gains the tags of the file. Without --tags, an
import creates 1,000 tags at most. Language, time zone, country and versions of the file become attributes by themselves.
${EXIT_CODES}`;

type Work = (session: OperatorSession, signal: AbortSignal) => Promise<number>;

export const devicesCommand = (context: OperatorContext, signals: Signals): Command =>
  createCommand<Work>(
    {
      name: 'devices',
      verbs: {
        export: verb(
          {
            summary: "Writes an app's devices to standard output, or to a file.",
            arguments: ['app'],
            flags: EXPORT_FLAGS,
            notes: `After an interruption the same command with the same file continues. ${EXIT_CODES}`,
          },
          ({ app }, flags) => planExport(context, app, flags),
        ),
        import: verb(
          {
            summary: "Imports devices, also from other engines' exports.",
            arguments: ['app', 'file'],
            flags: IMPORT_FLAGS,
            notes: IMPORT_NOTES,
          },
          ({ app, file }, flags) => planImport(context, app, file, flags),
        ),
      },
    },
    context.terminal,
    async (work) => {
      try {
        return await interruptible(signals, async (signal) => {
          const session = await context.open();
          try {
            return await work(session, signal);
          } finally {
            await session.close();
          }
        });
      } catch (error) {
        if (!(error instanceof GivenUpError)) throw error;
        context.terminal.complain(error.message);
        return EXIT_FAILED;
      }
    },
  );

function planExport(
  { terminal }: OperatorContext,
  app: string,
  values: {
    readonly format: string;
    readonly output?: string | undefined;
    readonly 'resume-from'?: string | undefined;
  },
): Work {
  const { format, 'resume-from': place } = values;
  const path = values.output ?? null;
  if (path !== null && place !== undefined) {
    throw new UsageError('--resume-from is for standard output: with --output it is not needed');
  }
  const after = place === undefined ? null : readPlace(place);
  const request = { appId: readNumber('<app>', app), format: format as ExportFormat, path, after };
  return ({ api }, signal) => exportDevices(api, terminal, request, signal);
}

async function planImport(
  { terminal }: OperatorContext,
  app: string,
  file: string,
  values: ImportValues,
): Promise<Work> {
  const appId = readNumber('<app>', app);
  const isStandardInput = file === '-';
  const choice = readTagChoice(values.tags, values['without-tags']);
  const format = readFormat(values.format ?? formatOf(file));
  const statePath = values.state ?? (isStandardInput ? null : `${file}.import-${appId}.state`);
  const request = {
    appId,
    format,
    replacesTags: values['replace-tags'],
    createsTags: values['create-tags'],
    choice,
    attributeChoice: readAttributeChoice(format, values.attributes, values['without-attributes']),
    faultsMax: readNumber('--bad-lines', values['bad-lines']),
    statePath,
    resumeFrom: readNumber('--resume-from', values['resume-from'] ?? '0'),
    isJson: values.json,
  };
  const input = await openInput(file);
  const work = values['dry-run'] ? previewImport : importDevices;
  return ({ api }, signal) => work(api, terminal, input, request, signal);
}

function readFormat(name: string | null): FormatName {
  if (name !== null && isFormatName(name)) return name;
  throw new UsageError(`--format is missing: ${FORMAT_NAMES.join(', ')}`);
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
