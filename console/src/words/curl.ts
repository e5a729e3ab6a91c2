/** Lines to paste into a terminal. Tokens stay out of them: a shell keeps what was typed. */

import type { App, Tag } from '../../../packages/client/src/openapi.ts';

/** In single quotes, whatever the text is. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const line = (baseUrl: string, path: string, token: string, body: unknown): string =>
  `curl -X POST ${quoted(`${baseUrl}${path}`)} \\
  -H "Authorization: Bearer $${token}" \\
  -d ${quoted(JSON.stringify(body))}`;

/** Registers a device of the app for a tag. */
export function registerLine(baseUrl: string, app: App, tag: Tag | null): string {
  const body = {
    appId: app.id,
    platformId: app.platformIds[0] ?? 0,
    deviceId: '<token of the device>',
  };
  return line(baseUrl, 'push-api/reg', 'API_USER_TOKEN', {
    ...body,
    ...named(tag, 'tagSourceId', 'tagId'),
  });
}

/** Sends to the tag. */
export const pushLine = (baseUrl: string, tag: Tag | null): string =>
  line(baseUrl, 'push-api/push', 'SUPER_USER_TOKEN', {
    ...named(tag, 'tagSourceIds', 'tagIds'),
    payload: { title: 'Hello', message: 'from Tagcast' },
  });

/** Any request. */
export const requestLine = (baseUrl: string, path: string, body: unknown): string =>
  line(baseUrl, path, 'SUPER_USER_TOKEN', body);

function named(
  tag: Tag | null,
  bySourceId: string,
  byId: string,
): Readonly<Record<string, unknown>> {
  if (tag === null) return { [bySourceId]: ['<a tag>'] };
  return tag.sourceId === undefined ? { [byId]: [tag.id] } : { [bySourceId]: [tag.sourceId] };
}
