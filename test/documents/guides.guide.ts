/**
 * Every block of code of docs/guide/ does what its page says, on a running engine with the
 * simulator. Each page has a shell of its own that goes through it from top to bottom.
 *
 * Not here but in their own tests: what browsers run (web-guide.test.ts), and the apps for Android
 * (android.guide.ts) and iOS (ios.guide.ts).
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { startConsoleEngine } from '../support/console.ts';
import { skipsForbidden } from '../support/environment.ts';
import type { Fence } from '../support/guides/fences.ts';
import { fencesOf, GUIDE_NAMES, guideText, isPrinted } from '../support/guides/fences.ts';
import { prepare } from '../support/guides/readers.ts';
import type { Shell } from '../support/guides/shell.ts';
import { openShell } from '../support/guides/shell.ts';
import { findProgram } from '../support/programs.ts';

t.setTimeout(600_000);

/** Others count the devices of the demo, and these make some: each has an engine of its own. */
const MAKE_DEVICES = ['quick-start', 'moving'];
/** The demo has its devices. */
const AS_A_READER = { DEMO_DEVICES: '' };
/** The page is about an app that its reader has made, and the test takes that of the demo. */
const WITHOUT_DEVICES = ['moving'];
const PROGRAMS = ['bash', 'curl', 'python3', 'php', 'java'];

t.test('every block of code says what a test does with it', (t) => {
  for (const name of GUIDE_NAMES) {
    const fences = fencesOf(guideText(name));
    for (const [index, { line, kind, name: file, code }] of fences.entries()) {
      const place = `${name}.md, line ${line}`;
      t.not(kind, null, place);
      if (kind === 'output') t.equal(fences[index - 1]?.kind, 'run', `${place} follows what runs`);
      if (kind === 'output') t.match(code, /\w|…-…/, `${place} shows something`);
      if (kind !== 'file') continue;
      const isUsed = fences
        .slice(index)
        .some((later) => later.kind === 'run' && later.code.includes(file));
      t.ok(isUsed, `${place}: ${file} is run`);
    }
  }
  t.end();
});

t.test('an example matches what is printed, but for spaces and …', (t) => {
  t.ok(isPrinted('{"a": 1, …}\n', '{"a":1,"b":2}'));
  t.notOk(isPrinted('{"a": 1}', '{"a":1,"b":2}'));
  t.notOk(isPrinted('OK', 'OK, or not'));
  t.end();
});

t.test('each page', async (t) => {
  const missing = PROGRAMS.filter((program) => findProgram(program) === null);
  if (missing.length > 0) {
    const reason = `not installed: ${missing.join(', ')}`;
    if (skipsForbidden) t.fail(reason);
    else await t.test('programs', { skip: reason }, () => undefined);
    return;
  }
  const shared = await startConsoleEngine(t, AS_A_READER);
  for (const name of GUIDE_NAMES) {
    const fences = fencesOf(guideText(name));
    if (!fences.some(({ kind }) => kind === 'run')) continue;
    await t.test(name, async (t) => {
      const { engine, demo } = MAKE_DEVICES.includes(name)
        ? await startConsoleEngine(t, WITHOUT_DEVICES.includes(name) ? {} : AS_A_READER)
        : shared;
      const reader = await prepare(t, name, engine, demo);
      const shell = openShell(t, reader.environment);
      for (const [file, text] of Object.entries(reader.files)) {
        writeFileSync(join(shell.folder, file), text);
      }
      await goThrough(t, shell, fences, reader.environment);
      // A reader goes on there with the client of this page, in the same shell.
      if (name === 'first-send')
        await goThrough(t, shell, fencesOf(guideText('publishers')), reader.environment);
      await reader.check(t);
    });
  }
});

async function goThrough(
  t: Test,
  shell: Shell,
  fences: readonly Fence[],
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  let printed = '';
  for (const { kind, line, name, code } of fences) {
    const place = `line ${line}`;
    switch (kind) {
      case 'run': {
        const ran = await shell.run(code);
        printed = ran.out;
        const isWell = t.equal(ran.code, 0, `${place} ends well`);
        if (!isWell || ran.err !== '') t.comment(`${place}: ${ran.out}\n${ran.err}`);
        break;
      }
      case 'output':
        if (!t.ok(isPrinted(code, printed), `${place} is what it prints`)) t.comment(printed);
        break;
      case 'file':
        writeFileSync(join(shell.folder, name), code);
        break;
      case 'service':
        t.match(code, /^(DEMO=0 )?npm start\n$/, `${place} starts the engine, as .ci/smoke does`);
        break;
      case 'set':
        for (const [, variable = ''] of code.matchAll(/\b([A-Z][A-Z_]+)=/g)) {
          t.ok(variable in environment, `${place}: the test sets ${variable}`);
        }
        break;
      case 'web':
      case 'app':
      case null:
        break;
    }
  }
}
