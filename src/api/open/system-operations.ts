/** What the OpenAPI document says of the installation's state. */

import { z } from 'zod';
import type { Operations } from '../../http/openapi/operation.ts';
import { count, epochMs, id, jsonAnswer, platformId } from '../../http/openapi/parts.ts';
import { PROVIDERS } from '../../providers/providers.ts';

const scope = { appId: id, platformId };
const system = z
  .object({
    version: z.string(),
    nodes: z.array(
      z.object({
        id: count,
        host: z.string(),
        pid: count,
        seenAgoMs: count.meta({ description: 'Since its last heartbeat.' }),
        isDead: z.boolean(),
      }),
    ),
    stores: z.object({
      postgres: z.enum(['ok', 'cannot write', 'unavailable']),
      redis: z.enum(['ok', 'unavailable']).optional(),
    }),
    index: z
      .object({ isReachable: z.boolean(), groupsWaiting: count, groupsRepaired: count })
      .nullable()
      .meta({ description: 'In Redis; null: the database is its own index.' }),
    providers: z.object({
      openCircuits: z
        .array(z.object({ ...scope, openThreads: count }))
        .meta({ description: 'Providers that fail for everyone.' }),
      credentials: z.array(
        z.object({
          ...scope,
          isHealthy: z.boolean().nullable(),
          expiresAtMs: epochMs.nullable(),
          isFallback: z.boolean(),
        }),
      ),
      connections: z
        .array(
          z.object({
            provider: z.string(),
            connections: count,
            streams: count.meta({ description: 'Sends that wait for their answer.' }),
            connectFailures: count.meta({ description: 'Since the start of the node.' }),
          }),
        )
        .meta({ description: 'Open ones, by provider.' }),
    }),
    queue: z.object({
      jobs: z.record(z.string(), count).meta({ description: 'That have not ended, by state.' }),
      chunks: count.meta({ description: 'Parts of up to 8,192 devices; counted up to 100,000.' }),
      retries: count,
      registrations: count,
    }),
  })
  .meta({
    id: 'System',
    description: 'Nodes and queue are of the installation, all else of the node that answers.',
  });
const SYSTEM = {
  version: '0.1.0',
  nodes: [{ id: 1, host: 'push-1', pid: 42, seenAgoMs: 310, isDead: false }],
  stores: { postgres: 'ok' },
  index: null,
  providers: {
    openCircuits: [],
    credentials: [],
    connections: [
      { provider: PROVIDERS[3].kind, connections: 2, streams: 310, connectFailures: 0 },
    ],
  },
  queue: { jobs: { RUNNING: 1 }, chunks: 3, retries: 0, registrations: 0 },
} as const;

export const systemOperations = {
  getConsoleSystem: {
    summary: 'Tell the state of the installation',
    answers: { 200: jsonAnswer('The state.', system, SYSTEM) },
  },
  getSystem: {
    summary: 'Tell the state of the installation',
    answers: { 200: jsonAnswer('The state.', system, SYSTEM) },
  },
  listClients: {
    summary: 'List the clients',
    answers: {
      200: jsonAnswer(
        'The clients, by slug.',
        z.array(
          z.object({
            clientId: z.string(),
            name: z.string(),
            isDisabled: z.boolean(),
            deleted: z
              .object({ apps: count, devices: count, jobs: count })
              .optional()
              .meta({ description: 'It was deleted: what is left of it.' }),
          }),
        ),
        [{ clientId: 'demo', name: 'Demo', isDisabled: false }],
      ),
    },
  },
} as const satisfies Operations;
