/**
 * The audit log: `…/audit`, and `/console/api/audit` for owners; newest first, a page at a time.
 */

import { z } from 'zod';
import type { PatientReads } from '../../database/patient-reads.ts';
import { AUDIT_ACTIONS, objectKindOf } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import { listed, secret } from '../../http/answers.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { CLIENT_HEADER, epochMs, orAbsent, word } from '../../http/openapi/parts.ts';
import { choice, idCursor, limitOr, time } from '../../http/parameters.ts';
import { refuse } from '../../http/result.ts';
import type { Asked, ValuesOf } from '../../http/route.ts';
import { routesAt } from '../../http/route.ts';
import type { AuditEntry } from '../sql/list-entries.ts';
import { listAuditEntries } from '../sql/list-entries.ts';

/** @limit entries on a page of `audit` that names no limit */
const PAGE_DEFAULT = 100;

const text = z.string();
const action = word(AUDIT_ACTIONS).meta({
  id: 'AuditAction',
  description:
    '`tags.change`: several tags and groups of one request. `tags.expire`: tags that had expired. `member.reset`: a link to a new password; `member.password`: a new one. `member.sign-in-refused`: a wrong password, once in a quarter of an hour for a network.',
});
const entry = z
  .object({
    id: z.uuid(),
    at: epochMs,
    count: z
      .int()
      .min(2)
      .optional()
      .meta({ description: 'How often, within an hour. Absent: once.' }),
    lastAt: orAbsent(epochMs.meta({ description: 'The last time. Absent: it was done once.' })),
    actor: z.object({
      kind: word(['credential', 'key', 'account', 'operator', 'engine']).meta({
        description:
          'A super user, a key, a member, the operator; `engine`: it does so by itself, or nobody knows who (a wrong password).',
      }),
      id: orAbsent(z.int().meta({ description: 'Of the key or the account.' })),
      name: orAbsent(
        text.meta({
          description: 'The user name of the credential, the name of the key, the e-mail address.',
        }),
      ),
    }),
    action,
    object: z.object({
      kind: text.meta({ description: 'What the action names before the dot.' }),
      id: orAbsent(
        text.meta({
          description:
            'A provider credential is `<app>/<platform>`, a device the first 128 bits of the SHA-256 of its deviceId: who knows the deviceId can see that it was this one.',
        }),
      ),
      name: orAbsent(text.meta({ description: 'Its name at that time.' })),
    }),
    address: orAbsent(
      text.meta({
        description: 'Absent: the command line of the operator, or the engine itself.',
      }),
    ),
    requestId: orAbsent(text),
    detail: orAbsent(
      z.record(text, z.union([text, z.number(), z.boolean(), z.array(text)])).meta({
        description:
          'The fields that changed, counts (`tagsCreated`, `devices`), terms (`graceHours`, `scopes`), `by` of a sign-in or new password (`password` or `link`); never a secret or a deviceId.',
      }),
    ),
  })
  .meta({ id: 'AuditEntry', description: 'One change.' });
const ENTRY = {
  id: '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52',
  at: 1_795_392_000_000,
  actor: { kind: 'key', id: 3, name: 'CMS' },
  action: 'tag.change',
  object: { kind: 'tag', id: '2', name: 'Breaking news' },
  address: '192.0.2.7',
  requestId: 'a7f1',
  detail: { fields: ['expiration'] },
};

const parameters = {
  limit: limitOr(PAGE_DEFAULT, 'How many entries.'),
  cursor: idCursor(ENTRY.id),
  from: time('At this time or later.', 1_795_305_600_000),
  to: time('Before this time.', 1_795_392_000_000),
  action: choice('Only this one.', AUDIT_ACTIONS, 'tag.change', action),
};
const answer = secret(listed('The entries.', entry, [ENTRY]));

/** Lists the audit log, for callers that administer all of the client. */
export const auditRoute = (patientReads: PatientReads) =>
  routesAt('/push-admin-api/v3/:client/audit', { api: 'admin', needs: 'admin' }).get(
    'listAuditEntries',
    {
      summary: 'List the changes and who made them, newest first',
      description:
        'Always by pages, of 100 entries unless `limit` says otherwise. For the super user, and for keys without limits.\n\nAn entry is written in the transaction of its change: what was answered as done is there, and nothing else is. That of a refused sign-in comes a moment later. Each client of the account has an entry of a sign-in. What changes nothing leaves no entry: a tag that exists already, a push job that was cancelled before. Registrations of apps are none, and `listNotifications` shows who has submitted a push. Entries are kept for 400 days, the newest 100,000 of a client.',
      query: parameters,
      answer,
    },
    entriesOf(patientReads),
  );

/** For owners, beside what else they administer. */
export const consoleAuditRoute = (patientReads: PatientReads) =>
  routesAt('/console/api/audit', { api: 'console', needs: 'owner' }).get(
    'listConsoleAuditEntries',
    {
      summary: 'The audit log, for owners',
      description: 'The same as `listAuditEntries`.',
      headers: CLIENT_HEADER,
      query: parameters,
      answer,
    },
    entriesOf(patientReads),
  );

const entriesOf =
  (patientReads: PatientReads) =>
  ({ caller, query }: Asked<Caller, unknown, ValuesOf<typeof parameters>>) => {
    if (isLimited(caller)) return refuse.outside();
    const { clientId } = caller;
    const filter = { action: query.action, fromMs: query.from, toMs: query.to };
    return rowsOf(query, {
      async read(before, limit) {
        const read = await patientReads.run(clientId, (sql) =>
          listAuditEntries(sql, clientId, filter, { before, limit }),
        );
        return read.kind === 'busy' ? refuse.tooMuchCounted : read.result.map(shown);
      },
      keyOf: ({ id }) => id,
    });
  };

const shown = ({ actorKind, actorId, actorName, objectId, objectName, ...row }: AuditEntry) => ({
  ...row,
  at: row.atMs,
  count: row.count === 1 ? undefined : row.count,
  lastAt: row.lastAtMs,
  actor: { kind: actorKind, id: actorId, name: actorName },
  object: { kind: objectKindOf(row.action), id: objectId, name: objectName },
});
