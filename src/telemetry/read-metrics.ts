/**
 * Metrics whose values another part of the engine keeps in plain numbers: they are read when the
 * metrics are asked for, so that counting costs nothing else.
 */

import type { Registry } from 'prom-client';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { HistogramReading } from '../std/histogram.ts';

type Labels = Readonly<Record<string, string>>;

/** One series: its labels and its value. */
export type Series<Value = number> = readonly [labels: Labels, value: Value];

interface Named {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

export function readGauge(registry: Registry, named: Named, read: () => readonly Series[]): void {
  new Gauge({
    ...named,
    registers: [registry],
    collect() {
      // A gauge without labels is reset to 0: it is to be absent while nothing is known.
      if (named.labelNames === undefined) this.remove();
      else this.reset();
      for (const [labels, value] of read()) this.set(labels, value);
    },
  });
}

export function readCounter(registry: Registry, named: Named, read: () => readonly Series[]): void {
  new Counter({
    ...named,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    },
  });
}

export function readHistogram(
  registry: Registry,
  named: Named,
  read: () => readonly Series<HistogramReading>[],
): void {
  registry.registerMetric(new ReadHistogram(named, read));
}

/** prom-client's own takes single values only: this one answers with what was counted elsewhere. */
class ReadHistogram extends Histogram {
  /** Knows name, help and type; its own values stay empty. */
  readonly #empty: Histogram;
  readonly #read: () => readonly Series<HistogramReading>[];

  constructor(named: Named, read: () => readonly Series<HistogramReading>[]) {
    super({ ...named, registers: [] });
    this.#empty = new Histogram({ ...named, registers: [] });
    this.#read = read;
  }

  override async get(): ReturnType<Histogram['get']> {
    const empty = await this.#empty.get();
    const series = this.#read();
    return {
      ...empty,
      values: series.flatMap(([labels, reading]) => seriesOf(empty.name, labels, reading)),
    };
  }

  /** The registry asks this one for the text. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get();
  }
}

/** The series of one histogram: Prometheus counts in each bucket the ones below it, too. */
function seriesOf(name: string, labels: Labels, { bounds, counts, sum }: HistogramReading) {
  let count = 0;
  const buckets = counts.map((inBucket, place) => {
    count += inBucket;
    const le = bounds[place] ?? '+Inf';
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
