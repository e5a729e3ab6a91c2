/** The declaration of a metric: each counting part hands it to the registry (metrics.ts). */

import type { HistogramReading } from '../std/histogram.ts';

type Labels = Readonly<Record<string, string>>;

export type Series<Value = number> = readonly [labels: Labels, value: Value];

interface Declaration<Type, Value> {
  readonly type: Type;
  readonly name: string;
  readonly help: string;
  /** Absent: it is one series, or none while nothing is known. */
  readonly labels?: readonly string[];
  /** Called whenever the metrics are read, so that counting costs nothing else. */
  read(): readonly Series<Value>[];
}

export type Metric =
  | Declaration<'counter' | 'gauge', number>
  | Declaration<'histogram', HistogramReading>;

/** The series of a metric without labels. Null: its value is not known. */
export const known = (value: number | null): readonly Series[] =>
  value === null ? [] : [[{}, value]];

export const seriesBy = <Value>(
  label: string,
  values: Readonly<Record<string, Value>>,
): readonly Series<Value>[] =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
