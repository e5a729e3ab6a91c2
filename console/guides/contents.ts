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
  'guide/index': './',
  'guide/api': 'calling-the-api',
  'reference/api': 'api-reference',
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
  part('Begin', ['guide/index', 'guide/quick-start', 'guide/concepts', 'guide/first-send']),
  part('Devices', ['guide/ios', 'guide/android', 'guide/web']),
  part('Publishers', [
    'guide/sending',
    'guide/privacy',
    'guide/publishers',
    'guide/api',
    'guide/errors',
  ]),
  part('Moving', ['guide/moving']),
  part('Operating', [
    'operate/install',
    'operate/configure',
    'operate/clients',
    'operate/scale',
    'operate/monitor',
    'operate/upgrade',
    'operate/failures',
  ]),
  part('Reference', [
    'reference/api',
    'reference/cli',
    'reference/settings',
    'reference/metrics',
    'reference/limits',
    'internals/glossary',
  ]),
  part('Inside', [
    'internals/overview',
    'internals/registration',
    'internals/push',
    'internals/crashes',
    'internals/tag-index',
    'internals/stores',
    'internals/senders',
    '../packages/http2/README',
    'internals/server',
    'internals/floors',
    'internals/interface',
    'internals/existing-clients',
    'internals/providers',
    'internals/adding-a-provider',
    '../packages/simulator/README',
    'internals/testing',
    'internals/bench',
  ]),
];

export const PAGES: readonly Page[] = CONTENTS.flatMap(({ pages }) => pages);
