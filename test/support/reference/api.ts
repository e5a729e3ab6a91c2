/** docs/reference/api.md: the OpenAPI document for people. */

import { PROBLEMS } from '../../../src/api/openapi/descriptions.ts';
import { TITLES } from '../../../src/http/problem.ts';
import { documentOfRoutes } from '../openapi-document.ts';
import type { Schema } from './api-schema.ts';
import { fieldsTable, typeText } from './api-schema.ts';
import { tableOf } from './table.ts';

const HEAD = `# The API

Every request that an engine takes, made from the source. What holds for all of them
(authentication, errors, lists, CORS) is in [calling the API](../guide/api.md). Programs read the
same in \`/openapi.json\`; [try it](/docs/api) in the browser. Further bounds:
[limits](limits.md), [settings](settings.md). The tables of the database: \`src/database/schema.sql\`.

- A field in **bold** must be there in a request, and always is in an answer. An answer leaves the
  others out where there is nothing to tell.
- \`a.b\` is the field \`b\` of the object \`a\`, \`a[].b\` that of each entry of the list \`a\`. In bold it
  must be there where \`a\` (or the entry) is. Of a body or an answer that is a list, the table shows
  the fields of an entry.
- In brackets: the characters of a text, the least and the greatest value of an integer, the entries
  of a list. Characters are UTF-16 units, as JavaScript counts.
- Parameters in the path are needed. \`Tagcast-Client\` is needed with a session. The others may be
  left out.
- An **id** is a whole number from 1 on. A request may also have it as a string of digits.
- A **time** is an integer: milliseconds since 1970. A request may also have it in ISO 8601 with a
  time zone. A number below 100,000,000,000 looks like seconds and is refused, and so is a day that
  its month does not have.
- Imports of devices take ids and times as integers only; the rotation of a credential, its \`appId\`.
- A **platform** is 3 (iOS), 7 (Web) or 15 (Android).
- \`{client}\` is the id of the client, a word: that of the credential.
`;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: Schema;
}
type Contents = Readonly<Record<string, { readonly schema: Schema }>>;
interface Answer {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Contents;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, Answer>>;
}
interface Request extends Operation {
  /** `GET /livez`. */
  readonly line: string;
  readonly problems: readonly string[];
}
interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

export function apiReference(): string {
  const { tags, paths, components } = documentOfRoutes() as unknown as Document;
  const requests = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => asRequest(method, path, operation)),
  );
  const writer = new Writer(requests);
  const apis = tags.map(({ name, description }) => {
    const own = requests.filter((request) => request.tags.includes(name));
    const common = new Set(commonProblems(own));
    return [
      `## ${name}\n\n${description}\n`,
      ...(common.size === 0 ? [] : [`[Problems](#problems) of all of them: ${codes(common)}.\n`]),
      contents(own),
      ...own.map((one) => writer.section(one, common)),
    ];
  });
  const schemas = Object.entries(components.schemas).map(([name, schema]) =>
    schemaSection(name, schema),
  );
  const text = [
    HEAD,
    ...apis.flat(),
    problemsSection(),
    `## Objects\n\nWhat several requests and answers have in common.\n`,
    ...schemas,
  ].join('\n');
  return writer.withLinks(text);
}

/** Those that each of the requests may be answered with; of bodies, each that has one. */
const commonProblems = (requests: readonly Request[]): readonly string[] =>
  Object.keys(TITLES).filter((status) => {
    const able = OF_BODIES.includes(status)
      ? requests.filter(({ requestBody }) => requestBody !== undefined)
      : requests;
    return able.length > 0 && able.every(({ problems }) => problems.includes(status));
  });
const OF_BODIES = ['408', '413'];
const codes = (statuses: Iterable<string>): string =>
  [...statuses].map((status) => `\`${status}\``).join(', ');

function asRequest(method: string, path: string, operation: Operation): Request {
  const problems = Object.entries(operation.responses).filter(([, { $ref }]) => $ref !== undefined);
  return {
    ...operation,
    line: `${method.toUpperCase()} ${path}`,
    problems: problems.map(([status]) => status).filter((status) => status !== 'default'),
  };
}

const contents = (requests: readonly Request[]): string =>
  tableOf(
    ['request', 'what it does'],
    requests.map(({ line, summary }) => [`\`${line}\``, `[${summary}](#${anchorOf(summary)})`]),
  );

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Where a table of fields was first shown: the same table is not shown again. */
interface Place {
  readonly summary: string;
  readonly part: 'body' | 'answer';
}

class Writer {
  readonly #anchors = new Map<string, string>();
  readonly #shown = new Map<string, Place>();

  constructor(requests: readonly Request[]) {
    const seen = new Set<string>();
    for (const { operationId, summary } of requests) {
      const anchor = anchorOf(summary);
      if (seen.has(anchor)) throw new Error(`Two operations are called: ${summary}`);
      seen.add(anchor);
      this.#anchors.set(operationId, anchor);
    }
  }

  /** `common`: the problems of the whole API. */
  section(request: Request, common: ReadonlySet<string>): string {
    const problems = request.problems.filter((status) => !common.has(status));
    const { summary, line, operationId, description } = request;
    const parts = [
      `### ${summary}\n`,
      `\`${line}\` · \`${operationId}\`\n`,
      ...(description === undefined ? [] : [`${description}\n`]),
      ...parametersOf(request),
      ...this.#bodyOf(request),
      ...this.#answersOf(request),
      ...(problems.length === 0 ? [] : [`Problems: ${codes(problems)}\n`]),
    ];
    return parts.join('\n');
  }

  #bodyOf(request: Request): readonly string[] {
    const { content } = request.requestBody ?? {};
    const schema = content?.['application/json']?.schema;
    if (content === undefined || schema === undefined) return [];
    const types = Object.keys(content).includes('multipart/form-data')
      ? 'JSON, or the part `data` of a `multipart/form-data`'
      : 'JSON';
    const place: Place = { summary: request.summary, part: 'body' };
    return [`**Body** (${types}):${this.#shape(schema, place)}\n`];
  }

  /** The name of an object, or its fields in a table below. */
  #shape(schema: Schema, place: Place): string {
    const table = fieldsTable(schema.items ?? schema);
    const type = typeText(schema);
    if (table === '') return ` ${type}`;
    const first = this.#shown.get(table);
    if (first !== undefined) {
      const { part, summary } = first;
      return ` ${type}, with the fields of the ${part} of [${summary}](#${anchorOf(summary)})`;
    }
    this.#shown.set(table, place);
    return `${type === 'object' ? '' : ` ${type}`}\n\n${table.trimEnd()}`;
  }

  #answersOf({ summary, responses }: Request): readonly string[] {
    const place: Place = { summary, part: 'answer' };
    return Object.entries(responses)
      .filter(([, { $ref }]) => $ref === undefined)
      .map(([status, { description, headers = {}, content = {} }]) => {
        const told = Object.entries(headers)
          .filter(([name]) => name !== 'X-Request-Id')
          .map(([name, { description = '' }]) => ` \`${name}\`: ${description}`);
        const bodies = Object.entries(content).map(
          ([type, { schema }]) =>
            `${type === 'application/json' ? '' : ` \`${type}\`:`}${this.#shape(schema, place)}`,
        );
        const body = bodies.join(';');
        return `**\`${status}\`** ${description}${told.join('')}${body}\n`;
      });
  }

  /** The id of an operation that a text names leads to it. */
  withLinks(text: string): string {
    return text.replaceAll(/(?<!· )`(\w+)`/g, (found, name: string) => {
      const anchor = this.#anchors.get(name);
      return anchor === undefined ? found : `[${found}](#${anchor})`;
    });
  }
}

function parametersOf({ parameters }: Request): readonly string[] {
  const rows = parameters
    .filter(({ name }) => name !== 'client')
    .map(({ name, in: where, description, schema }) => [
      `\`${name}\``,
      where,
      typeText(schema),
      description,
    ]);
  return rows.length === 0 ? [] : [tableOf(['parameter', 'in', 'type', 'meaning'], rows)];
}

function problemsSection(): string {
  const rows = Object.entries(PROBLEMS).map(([status, when]) => [
    `\`${status}\` ${TITLES[Number(status)] ?? ''}`,
    when,
  ]);
  return `## Problems\n\n[Calling the API](../guide/api.md#errors) shows one.\n\n${tableOf(['status', 'when'], rows)}`;
}

function schemaSection(name: string, schema: Schema): string {
  const { description } = schema;
  const said = description === undefined ? '' : `${description}\n\n`;
  const table = fieldsTable(schema);
  return `### ${name}\n\n${said}${table === '' ? `${typeText(schema)}\n` : table}`;
}
