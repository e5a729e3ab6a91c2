/** The registry: the metrics of Node.js and of the engine's parts (metric.ts), read on demand. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { HistogramReading } from '../std/histogram.ts';
import type { Metric, Series } from './metric.ts';

export class Metrics {
  readonly #registry = new Registry();
  readonly #onUnread: (error: unknown, name: string) => void;

  /** `onUnread`: for each metric that could not be read, and is left out of the text. */
  constructor(onUnread: (error: unknown, name: string) => void = () => undefined) {
    this.#onUnread = onUnread;
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Shows these too from now on. Throws if one of their names is taken. */
  add(metrics: readonly Metric[]): void {
    for (const metric of metrics) this.#registry.registerMetric(collectorOf(metric));
  }

  async text(): Promise<string> {
    const texts = this.#registry.getMetricsAsArray().map(async ({ name }) => {
      try {
        return `${await this.#registry.getSingleMetricAsString(name)}\n`;
      } catch (error) {
        this.#onUnread(error, name);
        return '';
      }
    });
    return (await Promise.all(texts)).filter((text) => text !== '').join('\n');
  }

  get contentType(): string {
    return this.#registry.contentType;
  }
}

function collectorOf(metric: Metric): Counter | Gauge | Histogram {
  const { name, help, labels } = metric;
  const named = { name, help, labelNames: labels ?? [], registers: [] };
  switch (metric.type) {
    case 'counter':
      return new Counter({
        ...named,
        collect() {
          this.reset();
          for (const [labels, value] of metric.read()) this.inc(labels, value);
        },
      });
    case 'gauge':
      return new Gauge({
        ...named,
        collect() {
          // A gauge without labels is reset to 0: it is to be absent while nothing is known.
          if (labels === undefined) this.remove();
          else this.reset();
          for (const [labels, value] of metric.read()) this.set(labels, value);
        },
      });
    case 'histogram':
      return new ReadHistogram(named, () => metric.read());
  }
}

type Named = ConstructorParameters<typeof Histogram>[0];

/** prom-client's own takes single values only: this one answers with what was counted elsewhere. */
class ReadHistogram extends Histogram {
  readonly #empty: Histogram;
  readonly #read: () => readonly Series<HistogramReading>[];

  constructor(named: Named, read: () => readonly Series<HistogramReading>[]) {
    super(named);
    this.#empty = new Histogram(named);
    this.#read = read;
  }

  override async get(): ReturnType<Histogram['get']> {
    const empty = await this.#empty.get();
    const series = this.#read();
    return { ...empty, values: series.flatMap((one) => valuesOf(empty.name, one)) };
  }

  /** The registry asks this one for the text. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get();
  }
}

/** The values of one histogram: Prometheus counts in each bucket the ones below it, too. */
function valuesOf(name: string, [labels, { bounds, counts, sum }]: Series<HistogramReading>) {
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
