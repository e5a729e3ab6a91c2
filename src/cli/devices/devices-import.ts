/**
 * `tagcast devices import`: a few batches are under way at once, and the state file names the place
 * before the oldest. A device that is imported twice does not change.
 */

import type { AnswerOf, RequestOf, TagcastClient } from '../../../packages/client/src/client.ts';
import type { Entry, FileDevice } from '../../../packages/device-files/src/file-device.ts';
import type { ImportResult } from '../../devices/import/imported.ts';
import { DEVICES_PER_REQUEST_MAX } from '../../devices/import/request-limits.ts';
import { counted, format } from '../../std/counted.ts';
import { visibleField } from '../../std/visible-text.ts';
import { EXIT_FAILED, printedJson } from '../command.ts';
import { EXIT_INTERRUPTED } from '../interruption.ts';
import { askOnce, askPatiently, GivenUpError } from '../patient-requests.ts';
import { Progress } from '../progress.ts';
import { removeState, writeState } from '../state-file.ts';
import type { Terminal } from '../terminal.ts';
import type { KnownAttributes } from './attribute-choice.ts';
import { knownAttributesOf, requireDeclared } from './attribute-choice.ts';
import type { ImportInput } from './import-input.ts';
import type { End } from './import-records.ts';
import { adviceOnNone, deviceOf, endByFaults, readRecords } from './import-records.ts';
import type { ImportRequest, ImportState } from './import-state.ts';
import { beginState } from './import-state.ts';
import { CREATED_TAGS_MAX, findTags, ImportTagMap } from './import-tag-map.ts';
import type { Tally } from './import-tally.ts';
import {
  add,
  addLeftOut,
  addTo,
  countLeftOut,
  describeTally,
  emptyTally,
  lostOf,
  NOT_DECLARED,
} from './import-tally.ts';

const DEVICES = '/operator/v1/apps/{id}/devices';
const SCOPE = `${DEVICES}/scope` as const;
const BEGIN = `${DEVICES}/begin-import` as const;

type Begun = AnswerOf<'POST', typeof BEGIN>['body'];
type ImportAnswer = AnswerOf<'POST', typeof DEVICES>['body'][number];
type ImportedDevice = RequestOf<'POST', typeof DEVICES>['body']['devices'][number];

/**
 * One for each lane of the database.
 * @limit batches under way → it waits
 */
const BATCHES_MAX = 4;
/**
 * A lane limits its transactions in the same way.
 * @limit tags of the devices of a batch of an import → the next batch
 */
const SUBSCRIPTIONS_MAX = 20_000;
/**
 * Records of a batch that hardly contains any device.
 * @limit records of a batch of an import → the next batch
 */
const RECORDS_MAX = 100_000;
/** @limit between two writings of the state of an import → done once more */
const STATE_EVERY_MS = 1_000;

/** Imports to the end of the file, or until `signal` is aborted; returns the exit code. */
export async function importDevices(
  api: TagcastClient,
  terminal: Terminal,
  input: ImportInput,
  request: ImportRequest,
  signal: AbortSignal,
): Promise<number> {
  const path = { id: request.appId };
  const { attributeChoice, appId } = request;
  if (attributeChoice.wanted.size > 0) {
    // Before the audit log has an import.
    const { body: scope } = await askOnce(() => api.request('GET', SCOPE, { path }));
    requireDeclared(attributeChoice, knownAttributesOf(scope.attributes), appId);
  }
  const { body: begun } = await askOnce(() => api.request('POST', BEGIN, { path }));
  const state = await beginState(request, input, begun.startedAt);
  if (state.records > 0) {
    terminal.note(`Continuing after record ${format(state.records)}.`);
  }
  return await new Import(api, terminal, input, request, begun, state).run(signal);
}

interface Batch {
  readonly devices: { readonly line: number; readonly device: FileDevice }[];
  subscriptions: number;
  readonly tally: Tally;
  records: number;
}

const emptyBatch = (): Batch => ({
  devices: [],
  subscriptions: 0,
  tally: emptyTally(),
  records: 0,
});

class Import {
  private readonly api: TagcastClient;
  private readonly terminal: Terminal;
  private readonly input: ImportInput;
  private readonly request: ImportRequest;
  private readonly begun: Begun;
  private readonly state: ImportState;
  private readonly known: KnownAttributes | null;
  private readonly tags: ImportTagMap;
  private readonly progress: Progress;
  /** The oldest first. Each resolves when its batch is committed, and rejects with a sentence. */
  private readonly underWay: Promise<Batch>[] = [];
  private batch = emptyBatch();
  private faults: number;
  private hasState = false;
  private stateWrittenAtMs = performance.now();

  constructor(
    api: TagcastClient,
    terminal: Terminal,
    input: ImportInput,
    request: ImportRequest,
    begun: Begun,
    state: ImportState,
  ) {
    this.api = api;
    this.terminal = terminal;
    this.input = input;
    this.request = request;
    this.begun = begun;
    this.state = state;
    this.known = knownAttributesOf(begun.attributes);
    this.faults = state.tally.faults;
    this.progress = new Progress(terminal.progress, 'record');
    const { createsTags, choice } = request;
    const createdMax = choice.isNamed
      ? Number.POSITIVE_INFINITY
      : CREATED_TAGS_MAX - state.tally.tagsCreated;
    this.tags = new ImportTagMap({
      createdMax: createsTags ? createdMax : null,
      ask: (tags, creates) => findTags(api, request.appId, tags, creates),
      onMissing: (sentence) => this.complain(sentence),
    });
  }

  async run(signal: AbortSignal): Promise<number> {
    const startedAtMs = performance.now();
    const recordsBefore = this.state.records;
    signal.addEventListener('abort', () => this.input.close(), { once: true });
    const end = await this.runToAnEnd(signal);
    this.progress.clear();
    this.input.close();
    const seconds = (performance.now() - startedAtMs) / 1_000;
    await this.finish(end, this.state.records - recordsBefore, seconds);
    if (end.kind === 'interrupted') return EXIT_INTERRUPTED;
    // A file that was read to its end but not fully imported is a failure, for a script to see.
    return end.kind === 'done' && lostOf(this.state.tally) === 0 ? 0 : EXIT_FAILED;
  }

  /** Commits all records read before the end, unless a commit was the reason for the end. */
  private async runToAnEnd(signal: AbortSignal): Promise<End> {
    try {
      const end = await this.readAll(signal);
      const last = await this.dispatch();
      while (this.underWay.length > 0) await this.commitOldest();
      return last ?? end;
    } catch (error) {
      if (error instanceof GivenUpError) return { kind: 'stopped', why: error.message };
      throw error;
    }
  }

  private async readAll(signal: AbortSignal): Promise<End> {
    const { input } = this;
    const { format, faultsMax } = this.request;
    return await readRecords(
      {
        input,
        format,
        passOver: this.state.records,
        take: (entry) => {
          this.take(entry);
          const tooMany = endByFaults(this.faults, faultsMax, { input, format });
          return tooMany ?? (this.isFull() ? this.dispatch() : null);
        },
        show: () => this.show(),
      },
      signal,
    );
  }

  private take(entry: Entry): void {
    const { batch, request, begun, known } = this;
    batch.records += 1;
    const { choice, attributeChoice } = request;
    const rules = { platformIds: begun.platformIds, choice, attributeChoice, known };
    const faultsBefore = batch.tally.faults;
    const device = deviceOf(entry, rules, batch.tally, (sentence) => this.complain(sentence));
    this.faults += batch.tally.faults - faultsBefore;
    if (device === null) return;
    batch.devices.push({ line: entry.line, device });
    batch.subscriptions += device.tags.length;
  }

  private isFull(): boolean {
    const { devices, subscriptions, records } = this.batch;
    return (
      devices.length === DEVICES_PER_REQUEST_MAX ||
      subscriptions > SUBSCRIPTIONS_MAX ||
      records === RECORDS_MAX
    );
  }

  /** Begins to commit what was read; returns the reason to stop instead. */
  private async dispatch(): Promise<End | null> {
    const { batch } = this;
    if (batch.records === 0) return null;
    this.batch = emptyBatch();
    // Written before anything is committed: a second run must know when the first began.
    if (!this.hasState) await this.keepState();
    while (this.underWay.length >= BATCHES_MAX) await this.commitOldest();
    const { leftOut, created } = this.tags;
    const mayGoOn = await this.tags.learn(batch.devices.flatMap(({ device }) => device.tags));
    if (!mayGoOn) return TOO_MANY_TAGS;
    const devices = batch.devices.map(({ device }) => this.rowOf(device, batch.tally));
    batch.tally.tagsLeftOut += this.tags.leftOut - leftOut;
    batch.tally.tagsCreated += this.tags.created - created;
    const committed = this.commit(batch, devices);
    // The failure is thrown where it is awaited; until then it must not count as unhandled.
    committed.catch(() => undefined);
    this.underWay.push(committed);
    return null;
  }

  /** An engine of a version before attributes takes a device that says nothing of them. */
  private rowOf({ tags, registeredAtMs, ...device }: FileDevice, tally: Tally): ImportedDevice {
    const { attributes, properties: _, unusable: __, ...facts } = device;
    const row = { ...facts, registeredAt: registeredAtMs, tagIds: this.tags.idsOf(tags) };
    const names = Object.keys(attributes);
    if (this.known === null) for (const name of names) addLeftOut(tally, name, NOT_DECLARED);
    return names.length === 0 || this.known === null ? row : { ...row, attributes };
  }

  private async commit(batch: Batch, devices: readonly ImportedDevice[]): Promise<Batch> {
    if (devices.length === 0) return batch;
    const { appId, replacesTags } = this.request;
    const body = { replacesTags, startedAt: this.state.startedAtMs, devices };
    const asked = { path: { id: appId }, body };
    const { body: results } = await askPatiently(
      () => this.api.request('POST', DEVICES, asked),
      ({ body }) =>
        body.some((answer) => resultOf(answer) === 'unavailable')
          ? 'The database cannot be reached.'
          : null,
    );
    for (const [index, answer] of results.entries()) {
      const result = resultOf(answer);
      add(batch.tally.results, result);
      if (typeof answer !== 'string') countLeftOut(batch.tally, answer.leftOut, this.known);
      if (result !== 'refused') continue;
      this.complain(`Line ${batch.devices[index]?.line} is refused by the database.`);
    }
    return batch;
  }

  private async commitOldest(): Promise<void> {
    const oldest = this.underWay[0];
    if (oldest === undefined) return;
    const { records, tally } = await oldest;
    void this.underWay.shift();
    this.state.records += records;
    addTo(this.state.tally, tally);
    this.show();
    if (performance.now() - this.stateWrittenAtMs < STATE_EVERY_MS) return;
    await this.keepState();
  }

  private async keepState(): Promise<void> {
    this.hasState = true;
    this.stateWrittenAtMs = performance.now();
    if (this.request.statePath !== null) await writeState(this.request.statePath, this.state);
  }

  private async finish(end: End, records: number, seconds: number): Promise<void> {
    const { statePath } = this.request;
    const rate = format(Math.round(records / Math.max(seconds, 0.001)));
    const done = counted(this.state.records, 'record');
    const part = this.state.records === records ? '' : `: ${format(records)} in this run,`;
    if (this.request.isJson) {
      const { records: recordsInAll, tally } = this.state;
      this.terminal.print(printedJson({ end: end.kind, records: recordsInAll, ...tally }));
    } else {
      this.terminal.print(
        [
          `${done}${part} in ${seconds.toFixed(1)} s (${rate}/s)`,
          ...describeTally(this.state.tally),
        ].join('\n'),
      );
    }
    if (end.kind === 'done') {
      const advice = adviceOnNone(this.state.records, this.state.tally.faults, {
        input: this.input,
        format: this.request.format,
      });
      if (advice !== null) this.complain(advice);
      if (statePath !== null) await removeState(statePath);
      return;
    }
    const why = end.kind === 'interrupted' ? 'Interrupted.' : end.why;
    const isFinal = end.kind === 'stopped' && end.isFinal === true;
    if (isFinal && statePath !== null) await removeState(statePath);
    if (isFinal || !this.hasState) {
      this.complain(why);
      return;
    }
    await this.keepState();
    const how = statePath === null ? `--resume-from ${this.state.records}` : 'The same command';
    this.complain(`${why} ${how} continues from here.`);
  }

  private show(): void {
    this.progress.show({
      done: this.input.octetsRead(),
      total: this.input.size,
      count: this.state.records,
    });
  }

  private complain(sentence: string): void {
    this.progress.clear();
    this.terminal.complain(visibleField(sentence));
  }
}

const resultOf = (answer: ImportAnswer): ImportResult =>
  typeof answer === 'string' ? answer : answer.result;

const TOO_MANY_TAGS: End = {
  kind: 'stopped',
  isFinal: true,
  why: `This import would create more than ${format(CREATED_TAGS_MAX)} tags. Look at them with --dry-run, then begin again with the wanted ones: --tags name,name (--tags '*': all).`,
};
