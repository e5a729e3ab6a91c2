/**
 * The journey of an editor by the keyboard alone, its keys counted: breaking news to everybody but
 * one tag, scheduled, its time corrected, tested, sent, watched, stopped.
 */

import t from 'tap';
import { openPage, withBrowser } from '../support/browser.ts';
import { post } from '../support/client.ts';
import { changeSettings, makeConsoleClient, registerDevices } from '../support/console.ts';

t.setTimeout(180_000);

const DEVICES = 150;
const STEPS_MAX = 40;

/** Letters that are typed count apart: they are the news itself. */
class Keyboard {
  keys = 0;
  letters = 0;
  readonly steps: string[] = [];
  readonly #press: (key: string) => Promise<void>;
  readonly #type: (text: string) => Promise<void>;
  #before = 0;

  constructor(press: (key: string) => Promise<void>, type: (text: string) => Promise<void>) {
    this.#press = press;
    this.#type = type;
  }

  async press(key: string, times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) await this.#press(key);
    this.keys += times;
  }

  async type(text: string): Promise<void> {
    await this.#type(text);
    this.letters += text.length;
  }

  done(step: string): void {
    this.steps.push(`${step}: ${this.keys - this.#before}`);
    this.#before = this.keys;
  }
}

t.test('an editor without a mouse', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    const [token = ''] = await registerDevices(demo, { platformId: 3, tagId, count: DEVICES });
    const admin = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}`;
    const bearer = demo.superUser.token;
    t.ok((await post(`${admin}/tags`, bearer, { name: 'Muted', sourceId: 'muted' })).ok);
    const testDevice = { name: 'Desk phone', appId: demo.appId, platformId: 3, deviceId: token };
    const saved = `${demo.baseUrl}/push-api/v3/${demo.clientId}/test-devices`;
    t.ok((await post(saved, bearer, testDevice)).ok);
    await changeSettings(demo, { undoSeconds: 0, confirmAboveDevices: 100 });
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const keyboard = new Keyboard(
      (key) => page.keyboard.press(key),
      (text) => page.keyboard.type(text),
    );
    /** The name of what has the focus. */
    const focused = (): Promise<string> =>
      page.evaluate(
        "(() => { const at = document.activeElement; return at?.labels?.[0]?.textContent ?? at?.getAttribute('aria-label') ?? at?.textContent ?? ''; })()",
      );
    const tabTo = async (name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> => {
      for (let step = 0; step < STEPS_MAX; step += 1) {
        await keyboard.press(key);
        if (name.test((await focused()).trim())) return;
      }
      throw new Error(`${name} is not reached; at ${await focused()}`);
    };
    const dialog = page.getByRole('dialog');

    await keyboard.press('n');
    await page.getByRole('heading', { name: 'New notification' }).waitFor();
    await page
      .getByRole('combobox', { name: 'Send to people' })
      .and(page.locator(':focus'))
      .waitFor();
    await keyboard.type('brea');
    await page.getByRole('option', { name: 'Breaking news' }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove Breaking news' }).waitFor();
    await tabTo(/^Exclude$/);
    await keyboard.type('mut');
    await page.getByRole('option', { name: 'Muted' }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove Muted' }).waitFor();
    keyboard.done('audience, one tag excluded');

    await tabTo(/^Title$/);
    await keyboard.type('Election: first results');
    await tabTo(/^Message$/);
    await keyboard.type('Polls have closed.');
    keyboard.done('text');

    const trial = page.getByRole('button', { name: /^Send test to 1 device/ });
    await trial.and(page.locator(':enabled')).waitFor();
    await tabTo(/^Send test to 1 device/);
    await keyboard.press('Enter');
    await dialog.getByText('The provider accepted it.').waitFor();
    await keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    keyboard.done('test');

    await tabTo(/^Now$/, 'Shift+Tab');
    await keyboard.press('ArrowRight');
    await tabTo(/^Send at$/);
    await keyboard.type('01012030');
    // A year may have more digits.
    await keyboard.press('ArrowRight');
    await keyboard.type('0900AM');
    await page.getByText(/^Schedule for 150 devices/).waitFor();
    await keyboard.press('Control+Enter');
    await dialog.getByLabel('Type the number of devices').and(page.locator(':focus')).waitFor();
    await keyboard.type('150');
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Change time…' }).waitFor();
    keyboard.done('scheduled');

    await tabTo(/^Change time…$/);
    await keyboard.press('Enter');
    await dialog.getByLabel('Send at').and(page.locator(':focus')).waitFor();
    await keyboard.type('01012030');
    await keyboard.press('ArrowRight');
    await keyboard.type('1000AM');
    await keyboard.press('Enter');
    await page
      .getByText(/10:00:00 AM|10:00 AM/)
      .first()
      .waitFor();
    await dialog.waitFor({ state: 'detached' });
    keyboard.done('time corrected');

    await tabTo(/^Send now…$/);
    await keyboard.press('Enter');
    await dialog.getByLabel('Type the number of devices').and(page.locator(':focus')).waitFor();
    await keyboard.type('150');
    // Slow enough to be watched, and stopped.
    const jobId = page.url().split('/').at(-1);
    const slow = await fetch(
      `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications/${jobId}`,
      {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${bearer}` },
        body: JSON.stringify({ ratePerSecond: 5 }),
      },
    );
    t.ok(slow.ok);
    await keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    keyboard.done('sent');

    await page.getByText('Sending', { exact: true }).first().waitFor();
    await page
      .getByText(/^[1-9]\d* of (about )?150/)
      .first()
      .waitFor();
    keyboard.done('watched');

    await tabTo(/^Cancel…$/);
    await keyboard.press('Enter');
    await dialog
      .getByRole('button', { name: 'Keep sending' })
      .and(page.locator(':focus'))
      .waitFor();
    await keyboard.press('Shift+Tab');
    await keyboard.press('Enter');
    await page.getByText('Cancelled', { exact: true }).first().waitFor();
    keyboard.done('stopped');

    t.comment(
      `${keyboard.keys} keys and ${keyboard.letters} letters. ${keyboard.steps.join('; ')}`,
    );
    t.ok(keyboard.keys <= 60, `${keyboard.keys} keys`);
    t.match(page.url(), room('notifications/'), 'on the page of the notification');
    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
