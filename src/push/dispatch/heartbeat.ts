/**
 * The sign of life of a node that sends: other nodes claim the parts of one that has stopped, long
 * before its leases end. A node that only hung goes on under a new id (decision 36).
 */

import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { DedicatedConnection } from '../../database/dedicated-connection.ts';
import { beat, joinNodes, leaveNodes } from '../../database/nodes/beats.ts';
import type { Store } from '../../database/store.ts';
import type { Clock } from '../../std/clock.ts';
import { Recurring } from '../../std/recurring.ts';
import type { Presence } from '../protocol/presence.ts';

/** @limit between a node's heartbeats */
const BEAT_EVERY_MS = 1_000;
/**
 * Others have its parts after some six seconds; a hang of less costs nothing.
 * @limit a node is silent → it is dead: others claim what it held
 */
const DEAD_AFTER_MS = 5_000;
/**
 * Half of the limit: the rest is for clocks that run differently and sends just handed over.
 * @limit a node sends after its last beat that was answered → it gives back what it has, and claims
 * nothing until the next one
 */
const PRESENT_MS = DEAD_AFTER_MS / 2;
/**
 * A beat may be late by a second; after a short outage each node has two seconds to beat.
 * @limit two beats of one series → the series is broken: the node declares no node dead for 5 s
 */
const GAP_MS_MAX = 2_000;

interface HeartbeatOptions {
  readonly store: Pick<Store, 'openDedicatedConnection'>;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Heartbeat {
  private readonly options: HeartbeatOptions;
  /** A dedicated connection: a beat waits for no other work of this node. */
  private readonly connection: DedicatedConnection;
  private readonly beats = new Recurring(BEAT_EVERY_MS, () => this.logged(() => this.beat()));

  constructor(options: HeartbeatOptions) {
    this.options = options;
    this.connection = options.store.openDedicatedConnection();
  }

  /** Resolves when other nodes know this node. */
  async start(): Promise<void> {
    await this.join();
    this.beats.start();
  }

  /** Lets other nodes claim at once what this node still holds. It sends nothing more of it. */
  async stop(): Promise<void> {
    await this.beats.stop();
    const { nodeId } = this.options.presence;
    if (nodeId === null) return;
    await this.logged(async () => {
      await this.connection.transactAtOnce((tx) => leaveNodes(tx, nodeId));
    });
  }

  async beat(): Promise<void> {
    const { presence, clock, log } = this.options;
    const { nodeId } = presence;
    if (nodeId === null) return this.join();
    const sentAtMs = clock.monotonicMs();
    const terms = { deadAfterMs: DEAD_AFTER_MS, gapMsMax: GAP_MS_MAX };
    const { isAlive, died } = await this.connection.transactAtOnce((tx) => beat(tx, nodeId, terms));
    for (const node of died) {
      log.warn({ node }, 'a node is silent and counts as dead: others claim its work');
    }
    if (isAlive) {
      presence.prolong(nodeId, sentAtMs + PRESENT_MS);
      return;
    }
    log.warn({ nodeId }, 'this node was silent and counted as dead: it continues under another id');
    await this.join();
  }

  private async join(): Promise<void> {
    const { presence, clock } = this.options;
    const sentAtMs = clock.monotonicMs();
    const nodeId = await this.connection.transactAtOnce((tx) =>
      joinNodes(tx, hostname(), process.pid),
    );
    presence.prolong(nodeId, sentAtMs + PRESENT_MS);
  }

  private async logged(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.options.log.warn({ err: error }, 'a heartbeat of this node failed');
    }
  }
}
