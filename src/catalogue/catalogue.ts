/**
 * Snapshots of clients' apps, tags and groups. Every change raises clients.catalogue_version; a
 * snapshot serves hits for a second after a check of it. Misses ask `fresh`, which checks again: a
 * tag that another node has just made must be known here, or a registration is lost.
 */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import type { SqlPool } from '../database/sql.ts';
import type { TagNames } from './snapshot.ts';
import { Snapshot } from './snapshot.ts';
import { catalogueVersion, loadCatalogue } from './sql/load-catalogue.ts';

/** @limit age of a catalogue snapshot, for hits → read again; a miss always reads */
const STALENESS_MS_MAX = 1_000;
/** @limit clients whose catalogue is kept in memory → those loaded longest ago are dropped */
const CLIENTS_MAX = 1_000;
/**
 * Bytes of all snapshots: eight hundred thousand tags, or some clients of the largest size.
 * @limit octets of the catalogues that are kept in memory → those loaded longest ago are dropped
 */
const BYTES_MAX = 256 * 1_048_576;

interface Entry {
  snapshot: Snapshot;
  /** Start of the last check that found it current. */
  checkedAtMs: number;
}

interface Checks {
  current: Promise<Snapshot>;
  /** Begins when `current` has ended; shared by all callers since. */
  next: Promise<Snapshot> | null;
}

export class Catalogue {
  private readonly sql: SqlPool;
  private readonly entries: CappedMap<number, Entry>;
  private readonly checks = new Map<number, Checks>();

  constructor(sql: SqlPool, bytesMax = BYTES_MAX) {
    this.sql = sql;
    this.entries = new CappedMap({ weightMax: bytesMax, sizeMax: CLIENTS_MAX });
  }

  /** The snapshot at hand, when it is at most a second old: for hits, without waiting. */
  remembered(clientId: number): Snapshot | null {
    const entry = this.entries.get(clientId);
    if (entry === undefined) return null;
    const ageMs = performance.now() - entry.checkedAtMs;
    return ageMs < STALENESS_MS_MAX ? entry.snapshot : null;
  }

  /** A snapshot at most a second old: for hits. */
  async recent(clientId: number): Promise<Snapshot> {
    return this.remembered(clientId) ?? (await this.fresh(clientId));
  }

  /**
   * Whether the app is on this platform. A miss takes a fresh snapshot: the platform may be new.
   */
  async hasPlatform(clientId: number, appId: number, platformId: number): Promise<boolean> {
    if (this.remembered(clientId)?.hasPlatform(appId, platformId)) return true;
    return (await this.fresh(clientId)).hasPlatform(appId, platformId);
  }

  /**
   * Current as of this call or later: for misses, and for callers that must see their own change.
   */
  fresh(clientId: number): Promise<Snapshot> {
    const checks = this.checks.get(clientId);
    if (checks === undefined) {
      const started: Checks = { current: this.check(clientId), next: null };
      this.checks.set(clientId, started);
      this.whenDone(clientId, started);
      return started.current;
    }
    checks.next ??= checks.current.then(
      () => this.check(clientId),
      () => this.check(clientId),
    );
    return checks.next;
  }

  /** A recent snapshot if it knows every one of these tags, else a fresh one. */
  async knowing(clientId: number, names: TagNames): Promise<Snapshot> {
    const recent = await this.recent(clientId);
    const { unknownIds, unknownSourceIds } = recent.resolve(names);
    return unknownIds.length + unknownSourceIds.length === 0 ? recent : await this.fresh(clientId);
  }

  /** Lets the waiting check, which has begun by then, take the place of the one that has ended. */
  private whenDone(clientId: number, checks: Checks): void {
    const advance = (): void => {
      if (checks.next === null) {
        this.checks.delete(clientId);
        return;
      }
      checks.current = checks.next;
      checks.next = null;
      this.whenDone(clientId, checks);
    };
    checks.current.then(advance, advance);
  }

  private async check(clientId: number): Promise<Snapshot> {
    const startedAtMs = performance.now();
    const version = await catalogueVersion(this.sql, clientId);
    const known = this.entries.get(clientId);
    if (known !== undefined && known.snapshot.version === version) {
      known.checkedAtMs = startedAtMs;
      return known.snapshot;
    }
    const rows = await loadCatalogue(this.sql, clientId);
    if (rows === null) throw new Error(`There is no client ${clientId}`);
    const snapshot = new Snapshot(rows);
    this.entries.set(clientId, { snapshot, checkedAtMs: startedAtMs }, snapshot.bytes);
    return snapshot;
  }
}
