/**
 * Checks properties of the code itself: who may import whom, and that every test sits beside the
 * shape of its source. The tables below are the architecture; change them in the same commit as the
 * decision that changes it.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import t from 'tap';

/** From dist/test back to the root of the repository. */
const ROOT = join(import.meta.dirname, '..', '..');

/**
 * The packages, which know nothing of Tagcast: what each may import besides itself. Every folder of
 * src may import packages/std, the others only where their table names them.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'packages/std': [],
  'packages/http1': ['packages/std'],
  'packages/http1-uws': ['packages/http1', 'packages/std'],
  'packages/http2': ['packages/std'],
  'packages/simulator': ['packages/http2', 'packages/std'],
  'packages/device-files': ['packages/std'],
  'packages/client': [],
};

/**
 * The platform: what features stand on, lowest first, and what of it each folder may import besides
 * itself.
 */
const PLATFORM: Readonly<Record<string, readonly string[]>> = {
  std: [],
  domain: ['std'],
  telemetry: ['std'],
  database: ['domain', 'std'],
  'tag-index': ['database', 'domain', 'std', 'telemetry'],
  transport: ['packages/http2', 'domain', 'std'],
  providers: ['transport', 'domain', 'std'],
  http: ['packages/http1', 'packages/http1-uws', 'domain', 'std'],
};

/**
 * The features, lowest first, and the features that each may import besides itself and the
 * platform. A folder named here counts apart from the one around it.
 */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  audit: [],
  clients: ['audit'],
  access: ['audit', 'clients'],
  webhooks: ['access', 'audit', 'clients'],
  catalogue: ['access', 'audit', 'clients'],
  // The operator's actions on a client concern everything that a client has.
  'clients/routes': ['access', 'catalogue', 'clients'],
  keys: ['access', 'catalogue', 'clients'],
  'provider-credentials': ['access', 'audit', 'catalogue', 'clients', 'webhooks'],
  templates: ['access', 'catalogue', 'clients'],
  statistics: ['catalogue', 'clients'],
  attributes: ['access', 'clients'],
  devices: ['access', 'attributes', 'audit', 'catalogue', 'clients', 'statistics', 'webhooks'],
  'push/sql': ['attributes', 'catalogue', 'devices', 'statistics', 'webhooks'],
  'push/ledger': ['push/sql', 'devices'],
  // The messages between the main thread (dispatch) and a sending thread (worker), which know
  // nothing else of each other.
  'push/protocol': ['push/ledger', 'push/sql'],
  'push/accept': ['push/sql', 'attributes', 'catalogue', 'clients', 'templates'],
  'push/explain': ['push/accept', 'push/sql', 'attributes', 'catalogue', 'devices'],
  'push/plan': ['push/sql', 'attributes'],
  'push/dispatch': ['push/protocol', 'push/ledger', 'push/sql', 'attributes'],
  'push/worker': ['push/protocol', 'push/ledger', 'push/sql'],
  'push/routes': [
    ...['push/accept', 'push/explain', 'push/sql', 'access', 'attributes', 'audit', 'catalogue'],
    ...['clients', 'devices', 'templates'],
    'packages/http1',
  ],
  push: [
    ...['push/accept', 'push/plan', 'push/dispatch', 'push/protocol', 'push/ledger', 'push/sql'],
    ...['access', 'clients', 'templates'],
  ],
};

/**
 * The composition, and what it may import besides itself, the platform and every feature: the
 * server, the doors of the command line and of the operator, and `app`, which knows all.
 */
const COMPOSITION: Readonly<Record<string, readonly string[]>> = {
  api: ['packages/http1', 'packages/http1-uws'],
  doctor: [],
  cli: [
    ...['doctor', 'packages/http2', 'packages/simulator'],
    ...['packages/device-files', 'packages/client'],
  ],
  app: ['api', 'doctor', 'cli', 'packages/simulator'],
};

const TABLE: Readonly<Record<string, readonly string[]>> = {
  ...PACKAGES,
  ...PLATFORM,
  ...FEATURES,
  ...COMPOSITION,
};

/** Tests that stand for the whole system rather than for one source file. */
const TESTS_WITHOUT_TWIN = [
  'tidy',
  'console',
  'documents',
  'contract',
  'end-to-end',
  'replay',
  'packages/http2/conversations',
  'packages/packed',
  'support',
];

/** The beginning of an executable file. */
const SHEBANG = /^#!.*\n/;

const listSources = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    // Benches, packages and the tests of other versions of Node install packages of their own.
    .filter((file) => file.endsWith('.ts') && !file.split(sep).includes('node_modules'))
    .sort();

/** Made from the OpenAPI document. */
const MADE = 'client/src/openapi.ts';

/** Those of src by their paths below it, and those of packages by their paths from the root. */
const SOURCES: readonly string[] = [
  ...listSources('src'),
  ...listSources('packages')
    .filter((file) => file !== MADE && file.split(sep)[1] === 'src')
    .map((file) => join('packages', file)),
];

const isOfPackage = (file: string): boolean => file.startsWith('packages/');

/** The path of a source from the root. */
const pathOf = (file: string): string => (isOfPackage(file) ? file : join('src', file));

/** Sources, tests and benches, by their paths from the root. */
const PATHS: readonly string[] = [
  ...SOURCES.map(pathOf),
  ...['test', 'bench'].flatMap((folder) => listSources(folder).map((file) => join(folder, file))),
];

/** The target of a relative import, written as in SOURCES. */
const targetOf = (file: string, target: string): string =>
  normalize(join(dirname(pathOf(file)), target)).replace(/^src\//, '');

const readSource = (file: string): string => readFileSync(join(ROOT, pathOf(file)), 'utf8');

/** The folder of the table that a path lies in, or '' for main.ts. */
function folderOf(file: string): string {
  const [top, second] = dirname(file).split(sep);
  const within = `${top}/${second}`;
  if (within in TABLE) return within;
  return top === '.' ? '' : (top ?? '');
}

const isWithin = (folder: string, shelf: 'routes' | 'sql'): boolean =>
  new RegExp(`/${shelf}(/|$)`).test(folder);

/** Every import of a source, the ones of types too: who, and whom. */
const imports = SOURCES.flatMap((file) =>
  [...readSource(file).matchAll(/(?:from |import\(\s*)'(\.[^']+)'/g)].map(([, target = '']) => ({
    file,
    target: targetOf(file, target),
  })),
);

function mayImport(from: string, to: string): boolean {
  if (TABLE[from]?.includes(to)) return true;
  if (to === 'packages/std') return !isOfPackage(from);
  if (from in FEATURES) return to in PLATFORM;
  return from in COMPOSITION && (to in PLATFORM || to in FEATURES);
}

t.test('every import goes down the floors, and every arrow that is named is needed', (t) => {
  const needed = new Set<string>();
  for (const { file, target } of imports) {
    const [from, to] = [folderOf(file), folderOf(target)];
    if (from === '' || from === to) continue;
    t.ok(mayImport(from, to), `${file} may import ${to === '' ? target : `${to}/`}`);
    needed.add(`${from} ${to}`);
  }
  for (const [from, folders] of Object.entries(TABLE)) {
    for (const to of folders) t.ok(needed.has(`${from} ${to}`), `${from}/ imports ${to}/`);
  }
  t.end();
});

t.test('nothing goes round in circles', (t) => {
  const seen = new Set<string>();
  for (const [folder, below] of Object.entries(TABLE)) {
    for (const one of below) t.ok(seen.has(one), `${one}/ is below ${folder}/`);
    seen.add(folder);
  }
  t.end();
});

t.test('statements belong to their feature, and verbs know no HTTP', (t) => {
  for (const { file, target } of imports) {
    const [from, to] = [folderOf(file), folderOf(target)];
    if (from === '' || from in COMPOSITION) continue;
    const [feature] = to.split('/');
    if (isWithin(target, 'sql') && to in FEATURES) {
      t.equal(file.split('/')[0], feature, `${file} imports ${target}`);
    }
    const isOfHttp = to === 'http' || isWithin(target, 'routes');
    if (isOfHttp && from !== 'http') t.ok(isWithin(file, 'routes'), `${file} imports ${target}`);
  }
  t.end();
});

const EXPORT =
  /^export (?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) (\w+)/gm;
const NAMED = /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g;
/** A whole module: loaded when it is needed, run in a thread or a process, or all of its names. */
const WHOLE = /(?:import\(\s*|\* as \w+ from |new URL\()'(\.[^']+?)\.[jt]s'/g;

/** Not in comments. */
const usesIn = (text: string, name: string): number =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').match(new RegExp(`\\b${name}\\b`, 'g'))
    ?.length ?? 0;

/**
 * Somebody imports it, a test at least; and the program itself uses it, in another file or in its
 * own: what only tests call is dead. A module that is loaded whole is passed over.
 */
t.test('every export is imported somewhere, and used by more than tests', (t) => {
  const named = new Set<string>();
  const namedInSource = new Set<string>();
  const whole = new Set<string>();
  for (const path of PATHS) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const moduleOf = (to: string) => normalize(join(dirname(path), to));
    for (const [, names = '', to = ''] of text.matchAll(NAMED)) {
      for (const name of names.split(',')) {
        const [first = ''] = name
          .trim()
          .replace(/^type /, '')
          .split(' as ');
        named.add(`${moduleOf(to)} ${first}`);
        if (!path.startsWith('test/')) namedInSource.add(`${moduleOf(to)} ${first}`);
      }
    }
    for (const [, to = ''] of text.matchAll(WHOLE)) whole.add(`${moduleOf(to)}.ts`);
  }
  // The client's are for its users, as the console is one.
  for (const file of SOURCES.filter((file) => folderOf(file) !== 'packages/client')) {
    const path = pathOf(file);
    if (whole.has(path)) continue;
    const text = readSource(file);
    for (const [, name = ''] of text.matchAll(EXPORT)) {
      t.ok(named.has(`${path} ${name}`), `${path}: ${name} is imported`);
      const isUsed = namedInSource.has(`${path} ${name}`) || usesIn(text, name) > 1;
      t.ok(isUsed, `${path}: ${name} is used by more than tests`);
    }
  }
  t.end();
});

t.test('main.ts alone lies in src itself', (t) => {
  const loose = readdirSync(join(ROOT, 'src'), { withFileTypes: true });
  t.same(
    loose
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted(),
    ['main.ts', 'tsconfig.json'],
  );
  t.end();
});

t.test('floors.md tells the same table', (t) => {
  const document = readFileSync(join(ROOT, 'docs', 'internals', 'floors.md'), 'utf8');
  const rows = document.matchAll(/^\| `([^`]+)` \| ([^|]+) \|$/gm);
  const told = [...rows].map(([, folder = '', may = '']) => [
    folder,
    may === '–' ? [] : may.split(' '),
  ]);
  t.strictSame(Object.fromEntries(told), TABLE);
  t.end();
});

/** A provider's words; where one of its tokens was taken is a column of devices, by its name. */
const PROVIDER_WORD = /apns|apple|fcm|firebase|google|vapid|web-?push/i;
const COLUMN = /ApnsEnvironment|apns_environment/g;

/** Where they stand all the same, and why. It may only get shorter. */
const PROVIDER_WORDS_OUTSIDE: Readonly<Record<string, string>> = {
  'transport/': "its comments name the provider at which a rule of a connection's was observed",
  'app/demo/demo.ts': 'makes the credentials of the accounts that the simulator knows',
  'app/commands.ts': 'the summary of `tagcast simulate`',
  'cli/simulate.ts': "the simulator's command",
  'cli/app.ts': '`app vapid` is a command of Web Push alone',
  'cli/web-push-keys.ts': 'the same',
  'domain/device.ts': 'the form in which tokens are stored',
  'domain/notification.ts': 'a payload has a part for each provider (internals/interface.md)',
  'domain/payload.ts': 'the same, and it is checked before a platform is known',
  'domain/outcome.ts': 'what an outcome means is told by those that say it',
  'domain/device-group-change.ts': 'where a token was taken is noted with the device',
  'domain/progress.ts': 'the same',
  'domain/fcm-installation.ts': 'the deletion of replaced tokens reads them too (decision 38)',
  'devices/replaced-tokens.ts': 'the same',
};

t.test("of the service's sources, a provider's words stand in its folder", (t) => {
  const outside = listSources('src')
    .filter((file) => !file.startsWith('providers/'))
    .filter((file) => PROVIDER_WORD.test(readSource(file).replace(COLUMN, '')));
  const exceptions = Object.keys(PROVIDER_WORDS_OUTSIDE);
  for (const file of outside) {
    const isKnown = exceptions.some((exception) => file.startsWith(exception));
    t.ok(isKnown, `${file} names no provider`);
  }
  for (const exception of exceptions) {
    const isNeeded = outside.some((file) => file.startsWith(exception));
    t.ok(isNeeded, `${exception} is still an exception`);
  }
  t.end();
});

/** Text of our own, or of the operator's machine. It may only get shorter. */
const PARSES_OWN_TEXT: Readonly<Record<string, string>> = {
  'packages/std/src/json.ts': 'counts the values first: every other text is read through it',
  'app/version.ts': 'package.json',
  'provider-credentials/provider-credentials.ts': 'what was sealed here',
  'http/openapi/schemas.ts': 'schemas that were just written',
  'templates/routes/rendered.ts': 'a message that was just rendered',
  'push/routes/renderings.ts': 'the same',
  'devices/sql/tag-ids.ts': 'an array of PostgreSQL',
  'templates/sandbox.ts': 'runs in its own process, which is ended by its limits',
  'packages/device-files/src/object-splitter.ts': 'its comment names it',
  'std/json-position.ts': 'the same',
  'http/json-body.ts': 'the same',
};

/** The simulator reads what senders under test send, and the client what its engine answers. */
const OWN_JSON: ReadonlySet<string> = new Set(['packages/simulator', 'packages/client']);

t.test('the JSON of strangers is measured before it is parsed', (t) => {
  const parsing = SOURCES.filter((file) => !OWN_JSON.has(folderOf(file))).filter((file) =>
    readSource(file).includes('JSON.parse'),
  );
  t.same(parsing.toSorted(), Object.keys(PARSES_OWN_TEXT).toSorted());
  t.end();
});

/** Write to the terminal by themselves, and why. */
const WRITES_BY_ITSELF: Readonly<Record<string, string>> = {
  'cli/process-terminal.ts': 'the one place, where control characters are escaped',
  'cli/fetch.ts': 'the octets of an answer, for a file or a pipe',
  'database/embedded/initialise-entry.ts': 'a process of its own, whose output the engine reads',
  'database/embedded/thread.ts': 'below the commands; its sentence is ours',
  'database/move/embedded-end.ts': 'ends the process at once; its sentence is ours',
  'packages/simulator/src/main.ts': 'a program of its own',
};
/** Shells read what a tab separates, and a header of HTTP may hold one. */
const HAS_TABS = ['cli/completion.ts', 'cli/fetch.ts'];

t.test('one place writes to the terminal, and one makes rows of a table', (t) => {
  const writing = SOURCES.filter((file) =>
    /process\.std(?:out|err)\.write|console\.(?:log|error)/.test(readSource(file)),
  );
  t.same(writing.toSorted(), Object.keys(WRITES_BY_ITSELF).toSorted());
  const tabs = SOURCES.filter((file) => /^(?:cli|doctor|app)\//.test(file)).filter((file) =>
    readSource(file).includes('\\t'),
  );
  t.same(tabs, HAS_TABS, 'fields are joined by tableRow, which escapes them');
  t.end();
});

t.test(
  'the command line itself is light: packages are loaded with the command that needs them',
  (t) => {
    for (const main of ['main.ts', 'cli/client.ts', 'cli/completion.ts', 'cli/publisher/send.ts']) {
      const reached = new Set([main]);
      for (const file of reached) {
        const imports = readSource(file).matchAll(/^import (?!type )[^;]*?'([^']+)';/gm);
        for (const [, target = ''] of imports) {
          if (target.startsWith('.')) reached.add(targetOf(file, target));
          else
            t.ok(target.startsWith('node:'), `${file} imports ${target}, on the way from ${main}`);
        }
      }
      t.ok(reached.size > 1, `${main} imports something`);
    }
    t.end();
  },
);

const COMMENT_COLUMNS_MAX = 100;
const COMMENT = /^\s*(?:\/\*\*|\*|\/\/) /;
/** Diagrams, tables and lines to paste are as wide as they are. */
const AS_WIDE_AS_IT_IS = /[│┌└┐┘├┤─▼▲►◄→]|^\s*\* (?: {3,}|\|)|biome-ignore/;

t.test('comments keep to the columns of code', (t) => {
  for (const path of PATHS) {
    const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
    const wide = lines.findIndex(
      (line) =>
        line.length > COMMENT_COLUMNS_MAX && COMMENT.test(line) && !AS_WIDE_AS_IT_IS.test(line),
    );
    t.equal(wide, -1, `${path}: no comment is wider than ${COMMENT_COLUMNS_MAX}`);
  }
  t.end();
});

t.test('every file opens with why it exists', (t) => {
  for (const file of SOURCES) {
    t.ok(
      readSource(file).replace(SHEBANG, '').startsWith('/**'),
      `${file} opens with a doc comment`,
    );
  }
  t.end();
});

/**
 * Whether the file that a test mirrors exists, in src, bench or a package's src: the file of its
 * name, or, when a file has tests by subject, the file that their folder is named after.
 */
function hasTwin(test: string): boolean {
  const source = /^(bench|packages)\//.test(test) ? '' : 'src';
  const named = test.slice(0, -'.test.ts'.length).replace(/^packages\/[^/]+/, '$&/src');
  const path = join(ROOT, source, named);
  return [`${path}.ts`, `${path}.mjs`, `${dirname(path)}.ts`].some((twin) => existsSync(twin));
}

t.test('every test mirrors one source file', (t) => {
  for (const file of listSources('test').filter((file) => file.endsWith('.test.ts'))) {
    if (TESTS_WITHOUT_TWIN.some((name) => file.startsWith(name))) continue;
    t.ok(hasTwin(file), `test/${file} mirrors a source file`);
  }
  t.end();
});
