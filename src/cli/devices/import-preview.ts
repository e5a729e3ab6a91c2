/** `tagcast devices import --dry-run`: what an import would do, by platform and by key of tags. */

import type { AnswerOf, TagcastClient } from '../../../packages/client/src/client.ts';
import type { Entry, FileTag } from '../../../packages/device-files/src/file-device.ts';
import type { FormatName } from '../../../packages/device-files/src/formats.ts';
import { PLATFORM_LABELS } from '../../../packages/std/src/platforms.ts';
import { TAGS_PER_REQUEST_MAX } from '../../devices/import/request-limits.ts';
import { TAGS_PER_CLIENT_MAX } from '../../domain/tag.ts';
import { counted, format } from '../../std/counted.ts';
import { visibleField } from '../../std/visible-text.ts';
import { EXIT_FAILED, printedJson } from '../command.ts';
import { EXIT_INTERRUPTED } from '../interruption.ts';
import { askOnce } from '../patient-requests.ts';
import { Progress } from '../progress.ts';
import type { Terminal } from '../terminal.ts';
import type { AttributeChoice, KnownAttributes } from './attribute-choice.ts';
import { knownAttributesOf, requireDeclared } from './attribute-choice.ts';
import type { ImportInput } from './import-input.ts';
import type { End } from './import-records.ts';
import { adviceOnNone, deviceOf, endByFaults, readRecords } from './import-records.ts';
import type { MappedTags } from './import-tag-map.ts';
import { CREATED_TAGS_MAX, findTags } from './import-tag-map.ts';
import { add, addLeftOut, describeTally, emptyTally, NOT_DECLARED } from './import-tally.ts';
import type { TagChoice } from './tag-choice.ts';
import { keyOf, nameOf } from './tag-choice.ts';

const SCOPE = '/operator/v1/apps/{id}/devices/scope';

type Scope = AnswerOf<'GET', typeof SCOPE>['body'];

/**
 * A client cannot have as many.
 * @limit different tags of a file that `--dry-run` remembers → the others are not in its table, which
 * says so
 */
const REMEMBERED_MAX = 2 * TAGS_PER_CLIENT_MAX;
/** @limit keys of tags that `--dry-run` shows → those with the most new tags, then subscriptions */
const KEYS_SHOWN_MAX = 50;

interface PreviewRequest {
  readonly appId: number;
  readonly format: FormatName;
  readonly choice: TagChoice;
  readonly attributeChoice: AttributeChoice;
  readonly faultsMax: number;
  readonly isJson: boolean;
}

interface KeyCount {
  readonly key: string;
  readonly subscriptions: number;
  readonly tags: number;
  /** The tags among them that the client does not have. */
  readonly newTags: number;
}

/** Reads the whole file, and asks the engine which tags it knows; nothing is changed. */
export async function previewImport(
  api: TagcastClient,
  terminal: Terminal,
  input: ImportInput,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<number> {
  const asked = { path: { id: request.appId } };
  const { body: scope } = await askOnce(() => api.request('GET', SCOPE, asked));
  requireDeclared(request.attributeChoice, knownAttributesOf(scope.attributes), request.appId);
  const preview = new Preview(terminal, input, request, scope);
  signal.addEventListener('abort', () => input.close(), { once: true });
  const end = await preview.read(signal);
  input.close();
  if (end.kind === 'interrupted') {
    terminal.complain('Interrupted.');
    return EXIT_INTERRUPTED;
  }
  const keys = await preview.countKeys((tags) => findTags(api, request.appId, tags, false));
  preview.print(end, keys);
  return end.kind === 'done' && preview.tally.faults === 0 ? 0 : EXIT_FAILED;
}

class Preview {
  readonly tally = emptyTally();
  readonly #terminal: Terminal;
  readonly #input: ImportInput;
  readonly #request: PreviewRequest;
  readonly #platformIds: readonly number[];
  readonly #known: KnownAttributes | null;
  readonly #progress: Progress;
  /** Devices with a value, by the name of the attribute. */
  readonly #attributes: Record<string, number> = {};
  /** Keyed by platform. */
  readonly #devices: Record<string, number> = {};
  readonly #tags = new Map<string, FileTag>();
  readonly #subscriptions = new Map<string, number>();
  #records = 0;
  #isCut = false;

  constructor(
    terminal: Terminal,
    input: ImportInput,
    request: PreviewRequest,
    { platformIds, attributes }: Scope,
  ) {
    this.#terminal = terminal;
    this.#input = input;
    this.#request = request;
    this.#platformIds = platformIds;
    this.#known = knownAttributesOf(attributes);
    this.#progress = new Progress(terminal.progress, 'record');
  }

  async read(signal: AbortSignal): Promise<End> {
    const { format } = this.#request;
    const end = await readRecords(
      {
        input: this.#input,
        format,
        passOver: 0,
        take: (entry) => this.#take(entry),
        show: () =>
          this.#progress.show({
            done: this.#input.octetsRead(),
            total: this.#input.size,
            count: this.#records,
          }),
      },
      signal,
    );
    this.#progress.clear();
    return end;
  }

  #take(entry: Entry): End | null {
    this.#records += 1;
    const { choice, attributeChoice, faultsMax, format } = this.#request;
    const known = this.#known;
    const rules = { platformIds: this.#platformIds, choice, attributeChoice, known };
    const device = deviceOf(entry, rules, this.tally, (sentence) => this.#complain(sentence));
    if (device !== null) {
      add(this.#devices, String(device.platformId));
      for (const tag of device.tags) this.#count(tag);
      for (const name of Object.keys(device.attributes)) this.#countAttribute(name);
      if (device.appVersion !== null) this.#countAttribute('appVersion');
    }
    return endByFaults(this.tally.faults, faultsMax, { input: this.#input, format });
  }

  #countAttribute(name: string): void {
    if (this.#known?.has(name)) add(this.#attributes, name);
    else addLeftOut(this.tally, name, NOT_DECLARED);
  }

  #count(tag: FileTag): void {
    const name = nameOf(tag);
    if (!this.#tags.has(name)) {
      if (this.#tags.size === REMEMBERED_MAX) {
        this.#isCut = true;
        return;
      }
      this.#tags.set(name, tag);
    }
    const key = keyOf(tag);
    this.#subscriptions.set(key, (this.#subscriptions.get(key) ?? 0) + 1);
  }

  /** Those with the most new tags first. */
  async countKeys(
    find: (tags: readonly FileTag[]) => Promise<MappedTags>,
  ): Promise<readonly KeyCount[]> {
    const tags = [...this.#tags.values()];
    const counts = new Map<string, { tags: number; newTags: number }>();
    for (let start = 0; start < tags.length; start += TAGS_PER_REQUEST_MAX) {
      const some = tags.slice(start, start + TAGS_PER_REQUEST_MAX);
      const { found } = await find(some);
      for (const [index, tag] of some.entries()) {
        const key = keyOf(tag);
        const count = counts.get(key) ?? { tags: 0, newTags: 0 };
        count.tags += 1;
        if (found[index] === 'unknown') count.newTags += 1;
        counts.set(key, count);
      }
    }
    return [...counts]
      .map(([key, count]) => ({ key, subscriptions: this.#subscriptions.get(key) ?? 0, ...count }))
      .toSorted((a, b) => b.newTags - a.newTags || b.subscriptions - a.subscriptions);
  }

  print(end: End, keys: readonly KeyCount[]): void {
    const { passed, faults, tagsNotTaken, attributesNotTaken, attributesLeftOut } = this.tally;
    const attributes = this.#attributes;
    if (this.#request.isJson) {
      const records = { end: end.kind, records: this.#records, devices: this.#devices };
      const left = { tagsNotTaken, attributesNotTaken, attributesLeftOut };
      this.#terminal.print(printedJson({ ...records, passed, faults, ...left, attributes, keys }));
    } else {
      const lines = [
        `${counted(this.#records, 'record')} read, nothing imported (--dry-run)`,
        ...Object.entries(this.#devices).map(
          ([platformId, count]) =>
            `  ${counted(count, 'device')} to import, ${PLATFORM_LABELS.get(Number(platformId))}`,
        ),
        ...Object.entries(attributes).map(
          ([name, count]) => `  ${counted(count, 'device')} with ${name}`,
        ),
        ...describeTally(this.tally),
        ...describeKeys(keys, this.#request.choice),
        ...(this.#isCut
          ? [`Only the first ${counted(REMEMBERED_MAX, 'tag')} are counted here.`]
          : []),
      ];
      this.#terminal.print(lines.join('\n'));
    }
    const { format } = this.#request;
    const why =
      end.kind === 'stopped'
        ? end.why
        : adviceOnNone(this.#records, faults, { input: this.#input, format });
    if (why !== null) this.#complain(why);
  }

  #complain(sentence: string): void {
    this.#progress.clear();
    this.#terminal.complain(visibleField(sentence));
  }
}

const HEAD = ['key', 'subscriptions', 'tags', 'new'];

function describeKeys(keys: readonly KeyCount[], { isNamed }: TagChoice): readonly string[] {
  if (keys.length === 0) return [];
  const shown = keys
    .slice(0, KEYS_SHOWN_MAX)
    .map(({ key, ...counts }) => [
      visibleField(key),
      ...[counts.subscriptions, counts.tags, counts.newTags].map(format),
    ]);
  const rows = [HEAD, ...shown];
  const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const newTags = keys.reduce((sum, key) => sum + key.newTags, 0);
  return [
    'Tags of these devices, by key:',
    ...rows.map((row) => {
      const cells = row.map((cell, at) =>
        at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
      );
      return `  ${cells.join('  ')}`;
    }),
    ...(keys.length > shown.length
      ? [`  … and ${counted(keys.length - shown.length, 'further key')}`]
      : []),
    newTags > CREATED_TAGS_MAX && !isNamed
      ? `${counted(newTags, 'tag')} would be new: with --create-tags an import needs --tags then, for it creates ${format(CREATED_TAGS_MAX)} at most without.`
      : `${counted(newTags, 'tag')} would be new: --create-tags creates what is new, else it is left out.`,
  ];
}
