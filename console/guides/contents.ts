/**
 * Which documents are pages under `/docs/`, in the order in which the table of contents has them.
 * A page's address is the name of its file, its title is its first heading.
 */

export interface Page {
  /** The path from `docs/`, without `.md`. */
  readonly source: string;
  /** Below `/docs/`. */
  readonly address: string;
}

export interface Part {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** Names of their own: one would be that of the page to try the API, and packages have READMEs. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'guides/index': './',
  api: 'api-reference',
  '../packages/simulator/README': 'simulator',
  '../packages/http2/README': 'http2',
};

const part = (title: string, sources: readonly string[]): Part => ({
  title,
  pages: sources.map((source) => ({
    source,
    address: ADDRESSES[source] ?? source.split('/').at(-1) ?? source,
  })),
});

export const CONTENTS: readonly Part[] = [
  part('Begin', ['guides/index', 'guides/quick-start', 'guides/concepts', 'guides/first-send']),
  part('Devices', ['guides/ios', 'guides/android', 'guides/web']),
  part('Publishers', ['guides/sending', 'guides/publishers', 'guides/errors']),
  part('Moving', ['guides/moving']),
  part('Reference', ['api', 'reference/limits', 'glossary']),
  part('Operating', [
    'operating',
    'reference/settings',
    'reference/metrics',
    'reference/cli',
    'scaling',
    '../packages/simulator/README',
  ]),
  part('Inside', ['architecture', '../packages/http2/README', 'bench', 'adding-a-provider']),
];

export const PAGES: readonly Page[] = CONTENTS.flatMap(({ pages }) => pages);
