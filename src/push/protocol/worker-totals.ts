/** Adds up what threads report of sends; open connections of a dead one count no longer. */

import { PROVIDER_KINDS } from '../../providers/providers.ts';
import type { ResolveReading } from '../../tag-index/resolve-meter.ts';
import { ResolveMeter } from '../../tag-index/resolve-meter.ts';
import type { TransportReading } from '../../transport/transport-meter.ts';
import { TransportMeter } from '../../transport/transport-meter.ts';
import type { WorkerReadings } from './task.ts';

export interface ProviderReading extends TransportReading {
  readonly provider: string;
}

/** Everything that all threads have done since the start, and what is open in them. */
interface SendingReading {
  readonly providers: readonly ProviderReading[];
  readonly resolved: ResolveReading;
}

export class WorkerTotals {
  private readonly meters = new Map(PROVIDER_KINDS.map((kind) => [kind, new TransportMeter()]));
  private readonly resolved = new ResolveMeter();
  private readonly last = new Map<number, ReadonlyMap<string, TransportReading>>();

  hear({ threadId, transports, resolved }: WorkerReadings): void {
    this.last.set(threadId, new Map(transports));
    this.resolved.add(resolved);
    for (const [kind, reading] of transports) this.meters.get(kind)?.add(reading);
  }

  forget(threadId: number): void {
    this.last.delete(threadId);
  }

  get reading(): SendingReading {
    return {
      providers: [...this.meters].map(([provider, meter]) => ({
        ...meter.reading,
        provider,
        connections: this.openOf(provider, ({ connections }) => connections),
        streams: this.openOf(provider, ({ streams }) => streams),
      })),
      resolved: this.resolved.reading,
    };
  }

  private openOf(provider: string, valueIn: (reading: TransportReading) => number): number {
    const readings = [...this.last.values()].flatMap((thread) => thread.get(provider) ?? []);
    return readings.reduce((sum, reading) => sum + valueIn(reading), 0);
  }
}
