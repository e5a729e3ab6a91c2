/**
 * Azure Notification Hubs' export of registrations: XML, one registration description a line
 * (https://learn.microsoft.com/azure/notification-hubs/export-modify-registrations-bulk), or the
 * Atom feed of its REST API
 * (https://learn.microsoft.com/rest/api/notificationhubs/read-all-registrations). Lines of JSON are
 * accepted, too, with registrations and installations as its SDK for JavaScript gives them.
 */

import type { SaxesParser as Parser } from 'saxes';
import { SaxesParser } from 'saxes';
import { changedNumbers } from '../../std/src/json-numbers.ts';
import type { Entry } from './file-device.ts';
import { checkDevice, textTag } from './file-device.ts';
import type { Format, RecordReader } from './format.ts';
import { readObject } from './format.ts';
import { LineSplitter } from './line-splitter.ts';
import type { RawRecord } from './raw-record.ts';
import { RECORD_OCTETS_MAX, tooLong } from './raw-record.ts';
import { subscriptionText } from './web-push-subscription.ts';

export const azureFormat: Format = {
  createSplitter: () => new LineSplitter(),
  createReader: () => new AzureReader(),
};

/** `AppleRegistrationDescription`, `FcmV1TemplateRegistrationDescription`, … */
const DESCRIPTION = /^(\w+?)(?:Template)?RegistrationDescription$/;
/** A line of a file of another kind: the parser would find nothing in it, and say nothing. */
const NO_MARKUP = /^\s*[^\s<]/;
/** Each line may begin with a declaration, which is an error within a document. */
const XML_DECLARATION = /<\?xml[^?]*\?>/g;
/**
 * A description in a feed is at depth 4, and headers of its template have elements of their own.
 * @limit elements in elements of an XML file → a bad record
 */
const DEPTH_MAX = 32;
/** The parser gets this much at a time, and nothing more after a fault. */
const PIECE_CHARACTERS = 4_096;

/** A registration that is being read. */
interface Description {
  readonly kind: string;
  readonly line: number;
  /** Its depth in the document: headers of a template have elements of their own. */
  readonly depth: number;
  readonly fields: Record<string, string>;
  /** The open element within it. */
  field: string | null;
}

/**
 * The parser is kept from line to line, for documents that have line breaks. After a fault it
 * starts again.
 */
class AzureReader implements RecordReader {
  private parser: Parser = this.createParser();
  private depth = 0;
  private line = 0;
  private description: Description | null = null;
  private hasFailed = false;
  /** Length of what the parser was given since it last held nothing that has to be kept. */
  private length = 0;
  /** Where that begins. */
  private startLine = 1;
  private entries: Entry[] = [];

  read(records: readonly RawRecord[]): readonly Entry[] {
    this.entries = [];
    for (const record of records) this.take(record);
    return this.entries;
  }

  end(): readonly Entry[] {
    if (this.depth === 0) return [];
    return [{ kind: 'fault', line: this.line, sentence: 'ends in the middle of an element.' }];
  }

  private take(record: RawRecord): void {
    if (record.kind === 'fault') {
      this.entries.push(record);
      this.begin();
      return;
    }
    this.line = record.line;
    if (this.depth === 0 && record.text.trimStart().startsWith('{')) {
      this.entries.push(readJson(record.line, record.text));
      return;
    }
    if (this.depth === 0 && this.length === 0 && NO_MARKUP.test(record.text)) {
      this.fail('is neither XML nor a JSON object.');
      this.begin();
      return;
    }
    this.parse(`${record.text.replace(XML_DECLARATION, '')}\n`);
    if (this.hasFailed) this.begin();
  }

  /** The parser keeps open elements, and text without an end, in memory. */
  private parse(text: string): void {
    if (this.length === 0) this.startLine = this.line;
    for (let at = 0; at < text.length && !this.hasFailed; at += PIECE_CHARACTERS) {
      const piece = text.slice(at, at + PIECE_CHARACTERS);
      this.length += piece.length;
      this.parser.write(piece);
      if (this.length > RECORD_OCTETS_MAX) this.failTooLong();
    }
  }

  private begin(): void {
    this.parser = this.createParser();
    this.depth = 0;
    this.description = null;
    this.hasFailed = false;
    this.length = 0;
  }

  private createParser(): Parser {
    const parser = new SaxesParser({ fragment: true, position: false });
    parser.on('error', () => this.fail('is not XML.'));
    parser.on('opentag', ({ name }) => this.open(name));
    parser.on('closetag', () => this.close());
    parser.on('text', (text) => this.addText(text));
    parser.on('cdata', (text) => this.addText(text));
    return parser;
  }

  /** Reports one fault per line: after the first mistake a parser finds more. */
  private fail(sentence: string): void {
    if (!this.hasFailed) this.entries.push({ kind: 'fault', line: this.line, sentence });
    this.hasFailed = true;
  }

  private open(name: string): void {
    this.depth += 1;
    if (this.depth > DEPTH_MAX) {
      this.fail(`is nested deeper than ${DEPTH_MAX} elements.`);
      return;
    }
    if (this.description !== null) {
      this.description.field = name;
      this.description.fields[name] = '';
      return;
    }
    const kind = DESCRIPTION.exec(name)?.[1];
    if (kind === undefined) return;
    const fields: Record<string, string> = Object.create(null);
    const { line, depth } = this;
    this.description = { kind, line, depth, fields, field: null };
  }

  private addText(text: string): void {
    const { description } = this;
    if (description === null || description.field === null || this.hasFailed) return;
    description.fields[description.field] += text;
  }

  private failTooLong(): void {
    if (this.hasFailed) return;
    this.entries.push(tooLong(this.startLine) as Entry);
    this.hasFailed = true;
  }

  private close(): void {
    this.depth -= 1;
    if (this.depth === 0) this.length = 0;
    const { description } = this;
    if (description === null || this.hasFailed) return;
    description.field = null;
    if (this.depth >= description.depth) return;
    this.entries.push(readDescription(description));
    this.description = null;
    this.length = 0;
  }
}

function readDescription({ kind, line, fields }: Description): Entry {
  const tags = (fields['Tags'] ?? '').split(',');
  switch (kind) {
    case 'Apple':
      return readRegistration(line, 3, fields['DeviceToken'], tags);
    case 'Gcm':
      return readRegistration(line, 15, fields['GcmRegistrationId'], tags);
    case 'Fcm':
      return readRegistration(line, 15, fields['FcmRegistrationId'], tags);
    case 'FcmV1':
      return readRegistration(line, 15, fields['FcmV1RegistrationId'], tags);
    case 'Browser':
      return readBrowser(line, fields['Endpoint'], fields['P256DH'], fields['Auth'], tags);
    default:
      return passed(line);
  }
}

/**
 * A registration (`kind` or `type`, token, tags) or an installation (`platform`, `pushChannel`,
 * tags) of the SDK.
 */
function readJson(line: number, text: string): Entry {
  const fields = readObject(text);
  if (fields === null) return { kind: 'fault', line, sentence: 'is not a JSON object.' };
  const { tags } = fields;
  const [changed] = changedNumbers(text, ([field]) => field === 'tags');
  if (changed !== undefined) {
    return { kind: 'fault', line, sentence: `${changed.path} ${changed.message}.` };
  }
  const kind = String(fields['platform'] ?? fields['kind'] ?? fields['type'] ?? '')
    .toLowerCase()
    .replace('template', '');
  const channel = fields['pushChannel'];
  switch (kind) {
    case 'apns':
    case 'apple':
      return readRegistration(line, 3, channel ?? fields['deviceToken'], tags);
    case 'gcm':
      return readRegistration(line, 15, channel ?? fields['gcmRegistrationId'], tags);
    case 'fcmv1':
      return readRegistration(line, 15, channel ?? fields['fcmV1RegistrationId'], tags);
    case 'browser': {
      const parts = typeof channel === 'object' && channel !== null ? channel : fields;
      const { endpoint, p256dh, auth } = parts as Readonly<Record<string, unknown>>;
      return readBrowser(line, endpoint, p256dh, auth, tags);
    }
    default:
      return passed(line);
  }
}

function readRegistration(line: number, platformId: number, token: unknown, tags: unknown): Entry {
  const names = Array.isArray(tags) ? tags : [];
  return checkDevice(line, {
    platformId,
    deviceId: typeof token === 'string' ? token.trim() : token,
    registeredAt: null,
    tags: names.flatMap((name) => {
      const text = String(name).trim();
      return text === '' || isInternal(text) ? [] : textTag(text);
    }),
  });
}

function readBrowser(
  line: number,
  endpoint: unknown,
  p256dh: unknown,
  auth: unknown,
  tags: unknown,
): Entry {
  if (typeof endpoint !== 'string' || typeof p256dh !== 'string' || typeof auth !== 'string') {
    return { kind: 'fault', line, sentence: 'a browser needs Endpoint, P256DH and Auth.' };
  }
  const parts = { endpoint: endpoint.trim(), p256dh: p256dh.trim(), auth: auth.trim() };
  return readRegistration(line, 7, subscriptionText(parts), tags);
}

/** Azure's own tags, one for each installation: `$InstallationId:{…}`, `$UserId:{…}`. */
const isInternal = (tag: string): boolean => tag.startsWith('$');

const passed = (line: number): Entry => ({
  kind: 'passed',
  line,
  platformId: null,
  reason: 'of another kind than Apple, Fcm and Browser',
});
