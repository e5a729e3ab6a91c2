/** The state of the installation, for its operator: with OPERATOR_TOKEN, and in the console. */

import { z } from 'zod';
import type { ListedNode } from '../../database/nodes/list-nodes.ts';
import type { StoreState } from '../../database/write-probe.ts';
import { STORE_STATES } from '../../database/write-probe.ts';
import type { Scope } from '../../domain/device.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { count, epochMs, id, platformId } from '../../http/openapi/parts.ts';
import { done } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import type { Failing } from '../../provider-credentials/failing.ts';
import { PROVIDERS } from '../../providers/providers.ts';
import type { CircuitReading } from '../../push/dispatch/circuit-breakers.ts';
import type { ProviderReading } from '../../push/protocol/worker-totals.ts';
import type { FailingSends } from '../../push/sql/list-failing-sends.ts';
import type { QueueReading } from '../../push/sql/read-queue.ts';

type ProviderConnections = Pick<
  ProviderReading,
  'provider' | 'connections' | 'streams' | 'connectFailures'
>;

/** How the provider of an app on a platform is. */
export interface CredentialStandingShown extends Scope {
  readonly appName: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly hasCredential: boolean;
  readonly isHealthy: boolean | null;
  readonly isFallback: boolean;
  readonly failing: Failing | null;
  readonly acceptedAtMs: number | null;
  readonly expiresAtMs: number | null;
  /** In the last 24 hours; null: none. */
  readonly failingSends: Omit<FailingSends, keyof Scope> | null;
}

export interface SystemState {
  readonly version: string;
  /** It was built from this one; null: without git. */
  readonly commit: string | null;
  /** Nodes of the installation, the newest first; the other fields are of the node that answers. */
  readonly nodes: readonly ListedNode[];
  /** The front that reads the requests of callers. `reason`: why it is not uWebSockets.js. */
  readonly front: {
    readonly kind: 'uws' | 'node';
    readonly version: string | null;
    readonly reason: string | null;
  };
  readonly stores: { readonly postgres: StoreState; readonly redis?: 'ok' | 'unavailable' };
  /** Null: the database is its own index. */
  readonly index: {
    readonly isReachable: boolean;
    readonly groupsWaiting: number;
    readonly groupsRepaired: number;
  } | null;
  readonly providers: {
    readonly openCircuits: readonly CircuitReading[];
    readonly credentials: readonly CredentialStandingShown[];
    /** Open ones of each provider that was ever sent to, and the sends on them. */
    readonly connections: readonly ProviderConnections[];
  };
  /** The queue of the installation, but the registrations of this node. */
  readonly queue: QueueReading & { readonly registrations: number };
}

export interface SystemParts {
  readSystem(): Promise<SystemState>;
}

const scope = { appId: id, platformId };
const system = z
  .object({
    version: z.string(),
    commit: z.string().nullable().meta({ description: 'null: it was built without git.' }),
    nodes: z.array(
      z.object({
        id: count,
        host: z.string(),
        pid: count,
        seenAgoMs: count.meta({ description: 'Since its last heartbeat.' }),
        isDead: z.boolean(),
      }),
    ),
    front: z
      .object({
        kind: z.enum(['uws', 'node']),
        version: z.string().nullable().meta({ description: 'Of uWebSockets.js.' }),
        reason: z.string().nullable().meta({ description: 'Why it is not uWebSockets.js.' }),
      })
      .meta({ description: 'Reads the requests of callers: uWebSockets.js, or our own.' }),
    stores: z.object({
      postgres: z.enum(STORE_STATES),
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
          appName: z.string(),
          clientId: z.string(),
          clientName: z.string(),
          hasCredential: z.boolean().meta({ description: 'Without one it is simulated.' }),
          isHealthy: z.boolean().nullable().meta({ description: 'By the last check.' }),
          isFallback: z.boolean().meta({ description: 'The one before is used.' }),
          failing: z
            .object({ since: epochMs, meaning: z.string() })
            .nullable()
            .meta({ description: 'Sends or checks fail since then.' }),
          acceptedAtMs: epochMs.nullable().meta({ description: 'The last accepted send.' }),
          expiresAtMs: epochMs.nullable(),
          failingSends: z
            .object({ count, lastId: z.string(), lastAt: epochMs })
            .nullable()
            .meta({ description: 'Stopped by a fault, in the last 24 hours.' }),
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
    description:
      'Nodes and queue are of the installation, all else of the node that answers. Jobs, chunks and retries are counted up to 100,000.',
  });
const SYSTEM = {
  version: '1.0.0',
  commit: '5f79a23f1234',
  nodes: [{ id: 1, host: 'push-1', pid: 42, seenAgoMs: 310, isDead: false }],
  front: { kind: 'uws', version: '20.69.0', reason: null },
  stores: { postgres: 'ok' },
  index: null,
  providers: {
    openCircuits: [],
    credentials: [
      {
        ...{ appId: 1, platformId: 3, appName: 'Demo', clientId: 'demo', clientName: 'Demo' },
        ...{ hasCredential: true, isHealthy: true, isFallback: false, failing: null },
        ...{ acceptedAtMs: 1_795_392_000_000, expiresAtMs: null, failingSends: null },
      },
    ],
    connections: [
      { provider: PROVIDERS[3].kind, connections: 2, streams: 310, connectFailures: 0 },
    ],
  },
  queue: { jobs: { RUNNING: 1 }, chunks: 3, retries: 0, registrations: 0 },
} as const;

const answer = shown('The state.', system, SYSTEM);

export const consoleSystemRoute = ({ readSystem }: SystemParts): Route =>
  routesAt('/console/api/system', { api: 'console', needs: 'operator' }).get(
    'getConsoleSystem',
    { summary: 'The state of the installation, for the console', answer },
    async () => done(await readSystem()),
  );

export const systemRoutes = ({ readSystem }: SystemParts): readonly Route[] => [
  routesAt('/operator/v1/system', { api: 'operator' }).get(
    'getSystem',
    { summary: 'The state of the installation', answer },
    async () => done(await readSystem()),
  ),
];
