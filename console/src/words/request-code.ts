/**
 * A request as lines to paste, in the languages of publishers. Tokens stay out of them: they come
 * from the environment, since a shell keeps what was typed, and a repository what was pasted.
 */

import type { App, Tag } from '../../../packages/client/src/openapi.ts';

export const LANGUAGES = ['curl', 'typescript', 'python', 'php'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface RequestToWrite {
  readonly url: string;
  /** The environment variable that has the token. */
  readonly token: string;
  readonly body: Json;
}

type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };

/** Registers a device of the app for a tag. */
export const registerRequest = (baseUrl: string, app: App, tag: Tag | null): RequestToWrite => ({
  url: `${baseUrl}push-api/reg`,
  token: 'API_USER_TOKEN',
  body: {
    appId: app.id,
    platformId: app.platformIds[0] ?? 0,
    deviceId: '<token of the device>',
    ...named(tag, 'tagSourceId', 'tagId'),
  },
});

export const pushRequest = (baseUrl: string, tag: Tag | null): RequestToWrite =>
  pushOf(baseUrl, {
    ...named(tag, 'tagSourceIds', 'tagIds'),
    payload: { title: 'Hello', message: 'from Tagcast' },
  });

/** Any push; `body` is JSON. */
export const pushOf = (baseUrl: string, body: object): RequestToWrite => ({
  url: `${baseUrl}push-api/push`,
  token: 'SUPER_USER_TOKEN',
  body: body as Json,
});

function named(tag: Tag | null, bySourceId: string, byId: string): Readonly<Record<string, Json>> {
  if (tag === null) return { [bySourceId]: ['<a tag>'] };
  return tag.sourceId === undefined ? { [byId]: [tag.id] } : { [bySourceId]: [tag.sourceId] };
}

export function codeOf(language: Language, request: RequestToWrite): string {
  switch (language) {
    case 'curl':
      return curlOf(request);
    case 'typescript':
      return typescriptOf(request);
    case 'python':
      return pythonOf(request);
    case 'php':
      return phpOf(request);
  }
}

const curlOf = ({ url, token, body }: RequestToWrite): string =>
  `curl -X POST ${shellQuoted(url)} \\
  -H "Authorization: Bearer $${token}" \\
  -d ${shellQuoted(JSON.stringify(body))}`;

const typescriptOf = ({ url, token, body }: RequestToWrite): string =>
  `const answer = await fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: { Authorization: \`Bearer \${process.env['${token}']}\` },
  body: JSON.stringify(${JSON.stringify(body)}),
});
console.log(answer.status, await answer.text());`;

const pythonOf = ({ url, token, body }: RequestToWrite): string =>
  `import json, os, urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    data=json.dumps(${pythonLiteral(body)}).encode(),
    headers={"Authorization": "Bearer " + os.environ["${token}"]},
)
print(urllib.request.urlopen(request).read().decode())`;

const phpOf = ({ url, token, body }: RequestToWrite): string =>
  `<?php
echo file_get_contents(${phpQuoted(url)}, false, stream_context_create(['http' => [
    'method' => 'POST',
    'header' => ['Authorization: Bearer ' . getenv('${token}')],
    'content' => json_encode(${phpLiteral(body)}),
]]));`;

/** In single quotes, whatever the text is. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const phpQuoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

/** Strings, numbers and lists are written in Python as in JSON. */
function pythonLiteral(value: Json | undefined): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  const fields = entriesOf(value).map(([n, v]) => `${JSON.stringify(n)}: ${pythonLiteral(v)}`);
  return `{${fields.join(', ')}}`;
}

function phpLiteral(value: Json | undefined): string {
  if (typeof value === 'string') return phpQuoted(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null);
  if (isList(value)) return `[${value.map(phpLiteral).join(', ')}]`;
  const fields = entriesOf(value).map(([n, v]) => `${phpQuoted(n)} => ${phpLiteral(v)}`);
  // An empty array would become a list.
  return fields.length === 0 ? 'new stdClass()' : `[${fields.join(', ')}]`;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

const entriesOf = (value: object): readonly (readonly [string, Json])[] =>
  Object.entries(value).filter(([, field]) => field !== undefined);
