/**
 * The sign of life of a node that sends. Each node beats once a second, and looks with the same
 * statement for others that have stopped: what those held is then claimed by whoever has room, long
 * before their leases end. Nodes that only hung find out by their next beat, and go on under a new
 * id (decision 36).
 */

import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Clock } from '../../std/clock.ts';
import { Recurring } from '../../std/recurring.ts';
import type { Line } from '../../store/line.ts';
import { beat, joinNodes, leaveNodes } from '../../store/nodes/beats.ts';
import type { Store } from '../../store/store.ts';
import type { Presence } from '../protocol/presence.ts';

/** Between a beat's answer and the next beat. */
const BEAT_EVERY_MS = 1_000;
/**
 * A node that is silent for longer is dead. With a beat's pause and a look of the claimer's, others
 * have its parts after some six seconds; and a machine, a connection or a database that hangs for
 * less costs nothing.
 */
const DEAD_AFTER_MS = 5_000;
/**
 * A node sends for so long after its last beat that was answered: half of it, as of a lease, so
 * that clocks that run differently and what was just handed to a connection end before anybody may
 * call it dead.
 */
const PRESENT_MS = DEAD_AFTER_MS / 2;
/**
 * Beats further apart are a break, after which a node calls nobody dead for DEAD_AFTER_MS: one may
 * be late by a second. After an outage of the database that was no break everybody has almost two
 * seconds to come back, and needs one.
 */
const GAP_MS_MAX = 2_000;

export interface HeartbeatOptions {
  readonly store: Pick<Store, 'openLine'>;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Heartbeat {
  private readonly options: HeartbeatOptions;
  /** Its own: a beat waits for nothing that this node does. */
  private readonly line: Line;
  private readonly beats = new Recurring(BEAT_EVERY_MS, () => this.logged(() => this.beat()));

  constructor(options: HeartbeatOptions) {
    this.options = options;
    this.line = options.store.openLine();
  }

  /** Resolves when others know of this node. */
  async start(): Promise<void> {
    await this.join();
    this.beats.start();
  }

  /**
   * What this node still holds may be claimed by others at once: nothing of it is sent any more.
   */
  async stop(): Promise<void> {
    await this.beats.stop();
    const { nodeId } = this.options.presence;
    if (nodeId === null) return;
    await this.logged(async () => {
      await this.line.transactAtOnce((tx) => leaveNodes(tx, nodeId));
    });
  }

  /** One beat. */
  async beat(): Promise<void> {
    const { presence, clock, log } = this.options;
    const { nodeId } = presence;
    if (nodeId === null) return this.join();
    const sentAtMs = clock.monotonicMs();
    const terms = { deadAfterMs: DEAD_AFTER_MS, gapMsMax: GAP_MS_MAX };
    const { isAlive, died } = await this.line.transactAtOnce((tx) => beat(tx, nodeId, terms));
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
    const nodeId = await this.line.transactAtOnce((tx) => joinNodes(tx, hostname(), process.pid));
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
