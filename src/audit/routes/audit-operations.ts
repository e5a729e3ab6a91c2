/** What the OpenAPI document says of the audit log. */

import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../domain/audit.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import { CLIENT_HEADER, epochMs, jsonAnswer, LINK, PAGE, time } from '../../http/openapi/parts.ts';

const text = z.string();
const action = z.enum(AUDIT_ACTIONS).meta({ id: 'AuditAction' });
const entry = z
  .object({
    id: z.uuid(),
    at: epochMs,
    count: z
      .int()
      .min(2)
      .optional()
      .meta({ description: 'How often, within an hour. Absent: once.' }),
    lastAt: epochMs.optional().meta({ description: 'The last time. Absent: it was done once.' }),
    actor: z.object({
      kind: z.enum(['credential', 'key', 'account', 'operator', 'engine']),
      id: z.int().optional().meta({ description: 'Of the key or the account.' }),
      name: text.optional().meta({
        description: 'The user name of the credential, the name of the key, the e-mail address.',
      }),
    }),
    action,
    object: z.object({
      kind: text.meta({ description: 'What the action names before the dot.' }),
      id: text.optional(),
      name: text.optional().meta({ description: 'Its name at that time.' }),
    }),
    address: text
      .optional()
      .meta({ description: 'Absent: the command line of the operator, or the engine itself.' }),
    requestId: text.optional(),
    detail: z
      .record(text, z.union([text, z.number(), z.boolean(), z.array(text)]))
      .optional()
      .meta({ description: 'Fields changed, counts, terms; never a secret.' }),
  })
  .meta({ id: 'AuditEntry', description: 'One change.' });

const ENTRY_ID = '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52';
const ENTRY = {
  id: ENTRY_ID,
  at: 1_795_392_000_000,
  actor: { kind: 'key', id: 3, name: 'CMS' },
  action: 'tag.change',
  object: { kind: 'tag', id: '2', name: 'Breaking news' },
  address: '192.0.2.7',
  requestId: 'a7f1',
  detail: { fields: ['expiration'] },
};

const query = {
  limit: { ...PAGE.limit, description: 'How many entries.' },
  cursor: { ...PAGE.cursor, example: ENTRY_ID },
  from: { description: 'At this time or later.', schema: time, example: 1_795_305_600_000 },
  to: { description: 'Before this time.', schema: time, example: 1_795_392_000_000 },
  action: { description: 'Only this one.', schema: action, example: 'tag.change' },
} as const;
const answers = { 200: jsonAnswer('The entries.', z.array(entry), [ENTRY], LINK) };

export const auditOperations = {
  listAuditEntries: {
    summary: 'Who has changed what, newest first',
    description:
      'Always by pages, of 100 entries unless `limit` says otherwise. For the super user, and for keys without limits. Who has submitted a push, the list of notifications tells.',
    query,
    answers,
    problems: [400],
  },
  listConsoleAuditEntries: {
    summary: 'Who has changed what, newest first',
    description: 'As `listAuditEntries`, for owners.',
    headers: CLIENT_HEADER,
    query,
    answers,
    problems: [400],
  },
} as const satisfies Operations;
