/**
 * Which documents are pages under `/docs/`, in the order in which the table of contents has them.
 * A page's address is the name of its file, its title is its first heading.
 */

export interface Page {
  /** Below `docs/`, without `.md`. */
  readonly source: string;
  /** Below `/docs/`. */
  readonly address: string;
}

export interface Part {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** A page whose name would be that of the page to try the API is called by another one. */
const ADDRESSES: Readonly<Record<string, string>> = { index: './', api: 'api-reference' };

const part = (title: string, sources: readonly string[]): Part => ({
  title,
  pages: sources.map((source) => {
    const name = source.split('/').at(-1) ?? source;
    return { source, address: ADDRESSES[name] ?? name };
  }),
});

export const CONTENTS: readonly Part[] = [
  part('Begin', ['guide/index', 'guide/quick-start', 'guide/concepts', 'guide/first-send']),
  part('Devices', ['guide/ios', 'guide/android', 'guide/web']),
  part('Publishers', ['guide/sending', 'guide/publishers', 'guide/errors']),
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
    'api',
    'reference/cli',
    'reference/settings',
    'reference/metrics',
    'limits',
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
    'internals/http2',
    'internals/server',
    'internals/floors',
    'internals/interface',
    'internals/existing-clients',
    'internals/providers',
    'internals/adding-a-provider',
    'internals/simulator',
    'internals/testing',
    'internals/bench',
  ]),
];

export const PAGES: readonly Page[] = CONTENTS.flatMap(({ pages }) => pages);
