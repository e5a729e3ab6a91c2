/**
 * `tagcast devices export`: writes an app's devices, page by page. The state beside the file says
 * how much is complete, and an interrupted export continues there.
 */

import type { FileHandle } from 'node:fs/promises';
import { constants, open } from 'node:fs/promises';
import { z } from 'zod';
import type { AnswerOf, TagcastClient } from '../../../packages/client/src/client.ts';
import type { DeviceWriter } from '../../../packages/device-files/src/write-devices.ts';
import { csvWriter, ndjsonWriter } from '../../../packages/device-files/src/write-devices.ts';
import { TAGS_PER_REQUEST_MAX } from '../../devices/import/request-limits.ts';
import type { PageEnd } from '../../devices/sql/read-page.ts';
import { takeAttributes } from '../../domain/device-attributes.ts';
import { counted } from '../../std/counted.ts';
import { UsageError } from '../arguments.ts';
import { EXIT_FAILED } from '../command.ts';
import { EXIT_INTERRUPTED } from '../interruption.ts';
import { askOnce, askPatiently } from '../patient-requests.ts';
import { createPrivateFile } from '../private-file.ts';
import { Progress } from '../progress.ts';
import { readState, removeState, writeState } from '../state-file.ts';
import type { Terminal } from '../terminal.ts';

const DEVICES = '/operator/v1/apps/{id}/devices';

type Page = AnswerOf<'GET', typeof DEVICES>['body'];

export const WRITERS = { csv: csvWriter, ndjson: ndjsonWriter } as const satisfies Readonly<
  Record<string, DeviceWriter>
>;
export type ExportFormat = keyof typeof WRITERS;

interface ExportRequest {
  readonly appId: number;
  readonly format: ExportFormat;
  readonly path: string | null;
  /** Where an export to standard output begins; null: at the beginning. */
  readonly after: PageEnd | null;
}

const stateForm = z.object({
  command: z.literal('devices export'),
  appId: z.number(),
  format: z.enum(['csv', 'ndjson']),
  after: z.object({ platformId: z.number(), ordinal: z.number() }),
  /** Octets of the file that are complete. */
  octets: z.number(),
  devices: z.number(),
});

type State = z.infer<typeof stateForm>;

const START: PageEnd = { platformId: 0, ordinal: -1 };
/** @limit between two writings of the state of an export → done once more */
const STATE_EVERY_MS = 1_000;

/** Exports to the end, or until `signal` is aborted; returns the exit code. */
export async function exportDevices(
  api: TagcastClient,
  terminal: Terminal,
  request: ExportRequest,
  signal: AbortSignal,
): Promise<number> {
  // Before a file is made.
  await askOnce(() => api.request('GET', `${DEVICES}/scope`, { path: { id: request.appId } }));
  const output =
    request.path === null
      ? new StandardOutput(terminal, request)
      : await FileOutput.open(request.path, request, terminal);
  const progress = new Progress(terminal.progress, 'device');
  try {
    const isComplete = await writeAll(api, request, output, progress, signal);
    progress.clear();
    if (!isComplete) {
      terminal.complain(output.howToGoOn());
      return signal.aborted ? EXIT_INTERRUPTED : EXIT_FAILED;
    }
    await output.complete();
    terminal.note(`${counted(output.state.devices, 'device')} of app ${request.appId}.`);
    return 0;
  } finally {
    progress.clear();
    await output.close();
  }
}

/** Returns whether everything was written. */
async function writeAll(
  api: TagcastClient,
  { appId, format }: ExportRequest,
  output: Output,
  progress: Progress,
  signal: AbortSignal,
): Promise<boolean> {
  const names = new TagNames(api, appId);
  const ask = (after: PageEnd): Promise<Page> => {
    const query = after.ordinal === START.ordinal ? {} : { cursor: cursorOf(after) };
    const asked = { path: { id: appId }, query };
    const page = askPatiently(async () => (await api.request('GET', DEVICES, asked)).body);
    // The failure is thrown where the page is awaited.
    page.catch(() => undefined);
    return page;
  };
  if (output.state.octets === 0 && !(await output.write(WRITERS[format].head))) return false;
  for (let next = ask(output.state.after); ; ) {
    const page = await next;
    if (page.next === null) return true;
    const end = endOf(page.next);
    // The next page is read while this one is written.
    next = ask(end);
    await names.learn(page.devices);
    const lines = page.devices.map(
      ({ tagIds, registeredAt, unsubscribedAt, refusedAt, environment, attributes, ...device }) =>
        WRITERS[format].line({
          ...device,
          ...takeAttributes(device).attributes,
          registeredAtMs: registeredAt,
          tags: names.of(tagIds),
          attributes: attributes ?? {},
          unsubscribedAtMs: unsubscribedAt ?? null,
          refusedAtMs: refusedAt ?? null,
          environment: environment ?? null,
          firstRegisteredOn: device.firstRegisteredOn ?? null,
        }),
    );
    if (!(await output.write(lines.join('')))) return false;
    output.state.after = end;
    output.state.devices += page.devices.length;
    await output.keepState();
    progress.show({ done: 0, total: null, count: output.state.devices });
    if (signal.aborted) return false;
  }
}

const cursorOf = ({ platformId, ordinal }: PageEnd): string => `${platformId}.${ordinal}`;

function endOf(cursor: string): PageEnd {
  const [platformId = 0, ordinal = 0] = cursor.split('.').map(Number);
  return { platformId, ordinal };
}

/** The names of tags, as JSON for the file. */
class TagNames {
  private readonly api: TagcastClient;
  private readonly appId: number;
  /** Null: the tag was deleted. Limited by the number of a client's tags. */
  private readonly known = new Map<number, string | null>();

  constructor(api: TagcastClient, appId: number) {
    this.api = api;
    this.appId = appId;
  }

  async learn(devices: Page['devices']): Promise<void> {
    const missing = new Set<number>();
    for (const { tagIds } of devices) {
      for (const tagId of tagIds) if (!this.known.has(tagId)) missing.add(tagId);
    }
    const tagIds = [...missing];
    for (let start = 0; start < tagIds.length; start += TAGS_PER_REQUEST_MAX) {
      await this.learnSome(tagIds.slice(start, start + TAGS_PER_REQUEST_MAX));
    }
  }

  of(tagIds: readonly number[]): readonly string[] {
    return tagIds.toSorted((a, b) => a - b).flatMap((tagId) => this.known.get(tagId) ?? []);
  }

  private async learnSome(tagIds: readonly number[]): Promise<void> {
    const asked = { path: { id: this.appId }, body: { tagIds } };
    const { body: names } = await askPatiently(() =>
      this.api.request('POST', `${DEVICES}/tag-names`, asked),
    );
    for (const tagId of tagIds) this.known.set(tagId, null);
    for (const { id, sourceId, name } of names) {
      const tag = sourceId === null ? { id, name } : { sourceId, id, name };
      this.known.set(id, JSON.stringify(tag));
    }
  }
}

interface Output {
  readonly state: State;
  /** Returns false when the reader has gone. */
  write(text: string): Promise<boolean>;
  keepState(): Promise<void>;
  howToGoOn(): string;
  complete(): Promise<void>;
  close(): Promise<void>;
}

const beginState = ({ appId, format, after }: ExportRequest): State => ({
  command: 'devices export',
  appId,
  format,
  after: after ?? START,
  // An export that continues has written the first line already.
  octets: after === null ? 0 : 1,
  devices: 0,
});

class StandardOutput implements Output {
  readonly state: State;
  private readonly terminal: Terminal;

  constructor(terminal: Terminal, request: ExportRequest) {
    this.terminal = terminal;
    this.state = beginState(request);
  }

  write(text: string): Promise<boolean> {
    return text === '' ? Promise.resolve(true) : this.terminal.write(text);
  }

  keepState(): Promise<void> {
    return Promise.resolve();
  }

  howToGoOn(): string {
    const { after } = this.state;
    if (after.ordinal === START.ordinal) return 'Interrupted.';
    return `Interrupted: --resume-from ${cursorOf(after)} continues from here.`;
  }

  complete(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

class FileOutput implements Output {
  readonly state: State;
  private readonly file: FileHandle;
  private readonly statePath: string;
  private keptAtMs = Number.NEGATIVE_INFINITY;

  private constructor(file: FileHandle, statePath: string, state: State) {
    this.file = file;
    this.statePath = statePath;
    this.state = state;
  }

  /** A new file, or the one that an interrupted export has begun, cut to its complete part. */
  static async open(path: string, request: ExportRequest, terminal: Terminal): Promise<FileOutput> {
    const statePath = `${path}.export-state`;
    const known = await readState(statePath, stateForm);
    if (known === null) {
      const file = await createPrivateFile(path);
      const output = new FileOutput(file, statePath, beginState(request));
      await output.keepState();
      return output;
    }
    if (known.appId !== request.appId || known.format !== request.format) {
      throw new UsageError(`${statePath} belongs to an export of another app or format`);
    }
    const file = await reopen(path);
    await file.truncate(known.octets);
    terminal.note(`Continuing after ${counted(known.devices, 'device')}.`);
    return new FileOutput(file, statePath, known);
  }

  async write(text: string): Promise<boolean> {
    const octets = Buffer.from(text);
    await this.file.appendFile(octets);
    this.state.octets += octets.length;
    return true;
  }

  async keepState(): Promise<void> {
    if (performance.now() - this.keptAtMs < STATE_EVERY_MS) return;
    this.keptAtMs = performance.now();
    // The part that the state calls complete must be on the disk first.
    await this.file.datasync();
    await writeState(this.statePath, this.state);
  }

  howToGoOn(): string {
    return 'Interrupted: the same command continues from here.';
  }

  async complete(): Promise<void> {
    await this.file.datasync();
    await removeState(this.statePath);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

async function reopen(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_WRONLY | constants.O_APPEND);
  } catch (error) {
    throw new UsageError(`cannot continue writing ${path}`, { cause: error });
  }
}
