/** The routes of push jobs on a real server over a store, for a client with an app and a tag. */

import type { Test } from 'tap';
import type { Server } from '../../src/api/server.ts';
import type { Store } from '../../src/database/store.ts';
import type { KeyRights } from '../../src/domain/caller.ts';
import { MISSING_CREDENTIAL } from '../../src/domain/own-faults.ts';
import type { KeyToMake } from '../../src/keys/keys.ts';
import { createKey } from '../../src/keys/keys.ts';
import { TestSends } from '../../src/providers/test-sends.ts';
import { Accept } from '../../src/push/accept/accept.ts';
import { historyRoute } from '../../src/push/routes/history.ts';
import { pushRoute } from '../../src/push/routes/push.ts';
import type { NotificationRouteParts } from '../../src/push/routes/routes.ts';
import { notificationRoutes } from '../../src/push/routes/routes.ts';
import { statusRoute } from '../../src/push/routes/status.ts';
import { JobWatches } from '../../src/push/routes/watches.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import type { Tenant } from './api.ts';
import { addTenant, secrets, startApiOn } from './api.ts';
import { DEFAULT_ORIGINS } from './default-origins.ts';
import { evaluator } from './evaluator.ts';
import { NEVER_AT_ONCE } from './never-at-once.ts';
import { makeTag } from './notifications.ts';
import { SILENT_JOURNAL } from './silent-journal.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed, or the text that it is. */
  // biome-ignore lint/suspicious/noExplicitAny: a test matches it.
  readonly body: any;
}

export interface JobsApi {
  readonly tenant: Tenant & { readonly tagId: number };
  readonly server: Server;
  readonly baseUrl: string;
  /** A path from `/push-api/v3/<client>/notifications` on, or a whole one; by the super user. */
  call(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
    headers?: object,
  ): Promise<Answered>;
  /** Submits a push to the tag; answers the job's id. */
  push(more?: Readonly<Record<string, unknown>>, token?: string): Promise<string>;
  /** A key with these rights; answers its token. */
  key(rights: Pick<KeyRights, 'scopes'> & Partial<KeyToMake>): Promise<string>;
}

/** `more`: what a fan-out has, in place of an acceptance that nothing sends for. */
export async function startJobsApi(
  t: Test,
  store: Store,
  slug: string,
  {
    replaceableDefault = true,
    ...more
  }: Partial<NotificationRouteParts> & { readonly replaceableDefault?: boolean } = {},
): Promise<JobsApi> {
  const { sql, patientReads } = store;
  const tenant = await addTenant(sql, slug);
  const tagId = await makeTag(sql, tenant.clientId, { sourceId: 'news' });
  const accept = new Accept({
    replaceableDefault,
    atOnce: NEVER_AT_ONCE,
    journal: SILENT_JOURNAL,
    sql,
    patientReads,
    tagIndex: new SqlTagIndex(sql),
    evaluator,
    isSimulated: () => false,
    onAccepted: () => undefined,
  });
  const testSends = new TestSends({
    replaceableDefault,
    origins: DEFAULT_ORIGINS,
    transport: 'http2',
    authorize: () => Promise.resolve({ kind: 'fault', reason: MISSING_CREDENTIAL }),
  });
  const reads = { patientReads, reachRetentionDays: 7 };
  const watches = new JobWatches(reads);
  const journal = SILENT_JOURNAL;
  const parts = { accept, sql, journal, ...reads, testSends, evaluator, watches, ...more };
  const { server, baseUrl } = await startApiOn(t, store, [
    ...notificationRoutes(parts),
    pushRoute(parts.accept, sql),
    statusRoute(patientReads),
    historyRoute(patientReads),
  ]);

  const call: JobsApi['call'] = async (
    method,
    path,
    body,
    token = tenant.superUser.token,
    headers = {},
  ) => {
    const at = path.startsWith('/push-') ? path : `/push-api/v3/${slug}/notifications${path}`;
    const response = await fetch(baseUrl + at, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  };

  return {
    tenant: { ...tenant, tagId },
    server,
    baseUrl,
    call,
    async push(more = {}, token) {
      const body = { tagIds: [tagId], payload: { title: 'goal!' }, ...more };
      const answer = await call('POST', '', body, token);
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
      return answer.body.id as string;
    },
    async key(rights) {
      const made = await createKey(sql, secrets, {
        tagIds: null,
        groupIds: null,
        appIds: null,
        maxDevices: null,
        expiresAtMs: null,
        name: 'Key',
        clientId: tenant.clientId,
        clientSlug: slug,
        ...rights,
      });
      if ('over' in made) throw new Error('too many keys');
      return made.token;
    },
  };
}
