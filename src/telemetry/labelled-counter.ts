/** Counts events by their labels; frequent ones in a plain field, looked up once. */

import type { Metric, Series } from './metric.ts';

interface Count {
  value: number;
}

/** Found by label values, one after the other: a joined key would be made and hashed each time. */
interface SeriesNode {
  readonly next: Map<string, SeriesNode>;
  count: Count | null;
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

export class LabelledCounter<Label extends string> {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  readonly #root: SeriesNode = { next: new Map(), count: null };
  readonly #series: { readonly labels: Labels<Label>; readonly count: Count }[] = [];

  constructor({
    name,
    help,
    labels,
  }: Pick<Metric, 'name' | 'help'> & { labels: readonly Label[] }) {
    this.name = name;
    this.help = help;
    this.labels = labels;
  }

  /** The same labels give the same series, which is shown from the first call on. */
  with(labels: Labels<Label>): Count {
    let node = this.#root;
    for (const label of this.labels) node = nextOf(node, labels[label]);
    if (node.count === null) {
      node.count = { value: 0 };
      this.#series.push({ labels, count: node.count });
    }
    return node.count;
  }

  read(): readonly Series[] {
    return this.#series.map(({ labels, count }) => [labels, count.value]);
  }
}

function nextOf({ next }: SeriesNode, value: string): SeriesNode {
  let node = next.get(value);
  if (node === undefined) {
    node = { next: new Map(), count: null };
    next.set(value, node);
  }
  return node;
}
