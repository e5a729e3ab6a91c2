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
 * The platform: what features stand on, lowest first, and what of it each folder may import besides
 * itself.
 */
const PLATFORM: Readonly<Record<string, readonly string[]>> = {
  std: [],
  domain: ['std'],
  telemetry: ['std'],
  http2: ['std'],
  database: ['domain', 'std'],
  'tag-index': ['database', 'domain', 'std', 'telemetry'],
  transport: ['http2', 'domain', 'std'],
  providers: ['transport', 'domain', 'std'],
  http: ['domain', 'std'],
};

/**
 * The features, lowest first, and the features that each may import besides itself and the
 * platform. A folder named here counts apart from the one around it.
 */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  clients: [],
  audit: [],
  access: ['audit', 'clients'],
  webhooks: ['access', 'audit', 'clients'],
  catalogue: ['access', 'audit', 'clients'],
  keys: ['access', 'audit', 'catalogue', 'clients'],
  'provider-credentials': ['access', 'audit', 'catalogue', 'clients', 'webhooks'],
  templates: ['audit', 'catalogue', 'clients'],
  statistics: ['catalogue', 'clients'],
  devices: ['audit', 'catalogue', 'clients', 'statistics', 'webhooks'],
  'push/sql': ['catalogue', 'devices', 'statistics', 'webhooks'],
  'push/ledger': ['push/sql', 'devices'],
  // What crosses between the main thread (dispatch) and a sending thread (worker), which know
  // nothing else of each other.
  'push/protocol': ['push/ledger', 'push/sql'],
  'push/accept': ['push/sql', 'catalogue', 'templates'],
  'push/plan': ['push/sql'],
  'push/dispatch': ['push/protocol', 'push/ledger', 'push/sql'],
  'push/worker': ['push/protocol', 'push/ledger'],
  'push/routes': ['push/accept', 'push/sql', 'audit', 'catalogue', 'clients', 'templates'],
  push: [
    ...['push/accept', 'push/plan', 'push/dispatch', 'push/protocol', 'push/ledger', 'push/sql'],
    ...['access', 'clients', 'templates'],
  ],
};

/** Beside the service: the simulated providers, files of devices, the client of the API. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  simulator: ['http2', 'std'],
  transfer: ['domain', 'std'],
  'packages/client': [],
};

/**
 * What composes them, and what it may import besides itself, the platform and every feature: the
 * server, the doors of the command line and of the operator, and `app`, which knows all.
 */
const COMPOSITION: Readonly<Record<string, readonly string[]>> = {
  api: [],
  doctor: [],
  operator: [],
  cli: ['doctor', 'operator', 'simulator', 'transfer', 'packages/client'],
  app: ['api', 'doctor', 'operator', 'cli', 'simulator'],
};

const TABLE: Readonly<Record<string, readonly string[]>> = {
  ...PLATFORM,
  ...FEATURES,
  ...BESIDE,
  ...COMPOSITION,
};

/** Tests that stand for the whole system rather than for one source file. */
const TESTS_WITHOUT_TWIN = [
  'tidy',
  'client',
  'console',
  'documents',
  'contract',
  'end-to-end',
  'replay',
  'http2/conversations',
  'support',
];

/** What an executable file begins with. */
const SHEBANG = /^#!.*\n/;

const listSources = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    // Benches and the tests of other versions of Node install packages of their own.
    .filter((file) => file.endsWith('.ts') && !file.split(sep).includes('node_modules'))
    .sort();

const readSource = (file: string): string => readFileSync(join(ROOT, 'src', file), 'utf8');

/** The folder of the table that a path lies in, or '' for main.ts. */
function folderOf(file: string): string {
  const [top, second] = dirname(file).split(sep);
  const within = `${top}/${second}`;
  if (within in TABLE) return within;
  return top === '.' ? '' : (top ?? '');
}

const isWithin = (folder: string, shelf: 'routes' | 'sql'): boolean =>
  new RegExp(`/${shelf}(/|$)`).test(folder);

/** Every import of src, the ones of types too: who, and whom. */
const imports = listSources('src').flatMap((file) =>
  [...readSource(file).matchAll(/(?:from |import\(\s*)'(\.[^']+)'/g)].map(([, target = '']) => ({
    file,
    target: normalize(join(dirname(file), target)).replace(/^\.\.\//, ''),
  })),
);

function mayImport(from: string, to: string): boolean {
  if (TABLE[from]?.includes(to)) return true;
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

/** By a test at least. A module that is loaded whole is passed over. */
t.test('every export of src is imported somewhere', (t) => {
  const named = new Set<string>();
  const whole = new Set<string>();
  for (const folder of ['src', 'test', 'bench']) {
    for (const file of listSources(folder)) {
      const path = join(folder, file);
      const text = readFileSync(join(ROOT, path), 'utf8');
      const targetOf = (to: string) => normalize(join(dirname(path), to));
      for (const [, names = '', to = ''] of text.matchAll(NAMED)) {
        for (const name of names.split(',')) {
          const [first = ''] = name
            .trim()
            .replace(/^type /, '')
            .split(' as ');
          named.add(`${targetOf(to)} ${first}`);
        }
      }
      for (const [, to = ''] of text.matchAll(WHOLE)) whole.add(`${targetOf(to)}.ts`);
    }
  }
  for (const file of listSources('src')) {
    const path = join('src', file);
    if (whole.has(path)) continue;
    for (const [, name = ''] of readSource(file).matchAll(EXPORT)) {
      t.ok(named.has(`${path} ${name}`), `${path}: ${name} is imported`);
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
  'database/migrations/': 'what was done to the database is done',
  'transport/': "its comments name the provider at which a rule of a connection's was observed",
  'transfer/': "other engines' exports name platforms in words of their own",
  'app/demo/demo.ts': 'makes the credentials of the accounts that the simulator knows',
  'app/commands.ts': 'the summary of `tagcast simulate`',
  'cli/simulate.ts': "the simulator's command",
  'cli/app.ts': '`app vapid` is a command of Web Push alone',
  'cli/web-push-keys.ts': 'the same',
  'domain/device.ts':
    'the platforms have their names and ids there; and the form in which tokens are stored',
  'domain/credential.ts':
    'credentials cross to the threads; their types are read by all that pass them on',
  'domain/notification.ts': 'a payload has a part for each provider (internals/interface.md)',
  'domain/payload.ts': 'the same, and it is checked before a platform is known',
  'domain/outcome.ts': 'what an outcome means is told by those that say it',
  'domain/device-group-change.ts': 'where a token was taken is noted with the device',
  'domain/progress.ts': 'the same',
  'domain/fcm-installation.ts': 'the deletion of replaced tokens reads them too (decision 38)',
  'devices/replaced-tokens.ts': 'the same',
};

t.test("a provider's words stand in its folder and in the simulator's", (t) => {
  const isElsewhere = (file: string) =>
    !(file.startsWith('providers/') || file.startsWith('simulator/'));
  const outside = listSources('src')
    .filter(isElsewhere)
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
  'std/json.ts': 'counts the values first: every other text is read through it',
  'app/version.ts': 'package.json',
  'provider-credentials/provider-credentials.ts': 'what was sealed here',
  'http/openapi/schemas.ts': 'schemas that were just written',
  'templates/routes/rendered.ts': 'a message that was just rendered',
  'push/routes/renderings.ts': 'the same',
  'devices/sql/tag-ids.ts': 'an array of PostgreSQL',
  'templates/sandbox.ts': 'runs in its own process, which is ended by its limits',
  'transfer/object-splitter.ts': 'its comment names it',
  'std/json-position.ts': 'the same',
  'http/json-body.ts': 'the same',
};

t.test('the JSON of strangers is measured before it is parsed', (t) => {
  const parsing = listSources('src')
    .filter((file) => !file.startsWith('simulator/'))
    .filter((file) => readSource(file).includes('JSON.parse'));
  t.same(parsing.toSorted(), Object.keys(PARSES_OWN_TEXT).toSorted());
  t.end();
});

/** Write to the terminal by themselves, and why. */
const WRITES_BY_ITSELF: Readonly<Record<string, string>> = {
  'cli/process-terminal.ts': 'the one place, where control characters are escaped',
  'cli/fetch.ts': 'the octets of an answer, for a file or a pipe',
  'database/embedded/initialise-entry.ts': 'a process of its own, whose output the engine reads',
  'database/embedded/thread.ts': 'below the commands; its sentence is ours',
};
/** Shells read what a tab separates, and a header of HTTP may hold one. */
const HAS_TABS = ['cli/completion.ts', 'cli/fetch.ts'];

t.test('one place writes to the terminal, and one makes rows of a table', (t) => {
  const sources = listSources('src');
  const writing = sources.filter((file) =>
    /process\.std(?:out|err)\.write|console\.(?:log|error)/.test(readSource(file)),
  );
  t.same(writing.toSorted(), Object.keys(WRITES_BY_ITSELF).toSorted());
  const tabs = sources
    .filter((file) => /^(?:cli|doctor|operator|app)\//.test(file))
    .filter((file) => readSource(file).includes('\\t'));
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
          if (target.startsWith('.')) reached.add(normalize(join(dirname(file), target)));
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
  for (const folder of ['src', 'test', 'bench']) {
    for (const file of listSources(folder)) {
      const lines = readFileSync(join(ROOT, folder, file), 'utf8').split('\n');
      const wide = lines.findIndex(
        (line) =>
          line.length > COMMENT_COLUMNS_MAX && COMMENT.test(line) && !AS_WIDE_AS_IT_IS.test(line),
      );
      t.equal(wide, -1, `${folder}/${file}: no comment is wider than ${COMMENT_COLUMNS_MAX}`);
    }
  }
  t.end();
});

t.test('every file opens with why it exists', (t) => {
  for (const file of listSources('src')) {
    t.ok(
      readSource(file).replace(SHEBANG, '').startsWith('/**'),
      `${file} opens with a doc comment`,
    );
  }
  t.end();
});

/**
 * What a test mirrors in src or bench: the file of its name, or, when a file has tests by subject,
 * the file that their folder is named after.
 */
function hasTwin(test: string): boolean {
  const source = test.startsWith('bench/') ? '' : 'src';
  const path = join(ROOT, source, test.slice(0, -'.test.ts'.length));
  return [`${path}.ts`, `${path}.mjs`, `${dirname(path)}.ts`].some((twin) => existsSync(twin));
}

t.test('every test mirrors one source file', (t) => {
  for (const file of listSources('test').filter((file) => file.endsWith('.test.ts'))) {
    if (TESTS_WITHOUT_TWIN.some((name) => file.startsWith(name))) continue;
    t.ok(hasTwin(file), `test/${file} mirrors a file of src`);
  }
  t.end();
});
