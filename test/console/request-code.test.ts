/** The lines that the console shows for a request do what they say, in each language. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import t from 'tap';
import type { Page } from '../support/browser.ts';
import { loadRoom, openPage, withBrowser } from '../support/browser.ts';
import { makeConsoleClient } from '../support/console.ts';
import { skipsForbidden } from '../support/environment.ts';
import { findProgram } from '../support/programs.ts';

t.setTimeout(180_000);

/** Everything that ends a string or begins a variable in one of the languages. */
const HOSTILE = `it's "50 %" \\ $HOME \${x} \`id\` $(id) {é} 😀 '''`;
const RUN_MS_MAX = 30_000;
const run = promisify(execFile);

/** The program that runs the lines of each language, and its arguments, keyed by its label. */
const RUNNERS: Readonly<Record<string, (code: string) => readonly [string, ...string[]]>> = {
  curl: (code) => ['bash', '-c', code],
  TypeScript: (code) => ['node', '--input-type=module', '--eval', code],
  Python: (code) => ['python3', '-c', code],
  PHP: (code) => ['php', '-r', code.replace('<?php\n', '')],
};

/** Each language that is shown on the page, with its lines that begin with a title. */
async function eachLanguage(
  t: Test,
  page: Page,
  titles: readonly string[],
  use: (t: Test, run: (code: string) => Promise<string>, codes: readonly string[]) => Promise<void>,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [language, commandOf] of Object.entries(RUNNERS)) {
    await t.test(language, async (t) => {
      const [name] = commandOf('');
      const program = findProgram(name);
      if (program === null) {
        if (skipsForbidden) t.fail(`${name} is not installed`);
        else t.comment(`${name} is not installed`);
        return;
      }
      const radio = page.getByRole('radio', { name: language });
      // Its label covers it. A click there waits until the page has stopped moving.
      await page.locator('label').filter({ has: radio }).click();
      t.ok(await radio.isChecked(), `${language} is chosen`);
      const codes: string[] = [];
      for (const title of titles) {
        codes.push((await page.getByRole('region', { name: title }).textContent()) ?? '');
      }
      const runCode = async (code: string) => {
        const [, ...args] = commandOf(code);
        return (await run(program, args, { env, timeout: RUN_MS_MAX })).stdout;
      };
      await use(t, runCode, codes);
    });
  }
}

t.test('each language does it', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const env = { API_USER_TOKEN: demo.apiUser.token, SUPER_USER_TOKEN: demo.superUser.token };

    // The lines name the first tag of the app, which is asked for.
    await loadRoom(page, room(`apps/${demo.appId}`));
    await eachLanguage(
      t,
      page,
      ['Register a device for a tag:', 'Send to the tag:'],
      async (t, run, [register = '', send = '']) => {
        const answer = await run(register.replace('<token of the device>', 'ab'.repeat(32)));
        t.match(answer, /\bOK\b/);
        t.match(await run(send), /[0-9a-f]{8}-[0-9a-f-]{27}/);
        t.notMatch(register + send, env.SUPER_USER_TOKEN);
      },
      env,
    );

    await page.goto(room('send'));
    await page.getByRole('combobox', { name: 'Send to people with any of these tags' }).click();
    await page.getByRole('listbox').getByRole('option').first().click();
    await page.getByLabel('Title', { exact: true }).fill(HOSTILE);
    await page.getByText('API request for this notification').click();
    await eachLanguage(
      t,
      page,
      ['SUPER_USER_TOKEN is on the page of each app.'],
      async (t, run, [send = '']) => {
        const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(await run(send)) ?? [];
        const job = await fetch(
          `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications/${id}`,
          {
            headers: { Authorization: `Bearer ${demo.superUser.token}` },
          },
        );
        const { payload } = (await job.json()) as { readonly payload: { readonly title: string } };
        t.equal(payload.title, HOSTILE);
      },
      env,
    );
    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
