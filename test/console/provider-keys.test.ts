/**
 * Providers' keys on the page of an app: dropped, checked, probed, with a warning before they end.
 */

import t from 'tap';
import type { Locator, Page } from '../support/browser.ts';
import { openPage, withBrowser } from '../support/browser.ts';
import { post } from '../support/client.ts';
import { makeConsoleClient } from '../support/console.ts';
import { apnsCredential, fcmCredential } from '../support/provider-credentials.ts';

t.setTimeout(180_000);

const IOS = 3;
const ANDROID = 15;
const DAY_MS = 86_400_000;
const UNKNOWN_APNS = apnsCredential();
const UNKNOWN_FCM = fcmCredential().serviceAccount;

interface DroppedFile {
  readonly name: string;
  readonly text: string;
}

/** Drops files as a hand does: the page sees one event with all of them. */
async function drop(page: Page, onto: Locator, files: readonly DroppedFile[]): Promise<void> {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const dropped = new DataTransfer();
    for (const { name, text } of ${JSON.stringify(files)}) dropped.items.add(new File([text], name));
    return dropped;
  })()`);
  await onto.dispatchEvent('drop', { dataTransfer });
}

t.test('keys of providers', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { controlUrl } = demo.simulator;
    const known = (await (await fetch(`${controlUrl}/accounts`, { method: 'POST' })).json()) as {
      readonly apns: {
        readonly keyId: string;
        readonly teamId: string;
        readonly privateKey: string;
      };
      readonly fcm: { readonly serviceAccount: Readonly<Record<string, string>> };
    };
    const { token_uri: _, ...account } = known.fcm.serviceAccount;
    const apps = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/apps`;
    const made = await post(apps, demo.superUser.token, {
      name: 'Kurier',
      platformIds: [IOS, ANDROID],
    });
    const { id: appId } = (await made.json()) as { readonly id: number };
    const stored = async (platformId: number) => {
      const headers = { Authorization: `Bearer ${demo.superUser.token}` };
      const answer = await fetch(`${apps}/${appId}/platforms/${platformId}`, { headers });
      return (await answer.json()) as {
        readonly hasCredential: boolean;
        readonly expiresAt?: number;
        readonly check?: { readonly ok: boolean };
      };
    };

    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    await page.goto(room(`apps/${appId}/platforms`));
    const sheet = (platform: string): Locator =>
      page.locator('section', { has: page.getByRole('heading', { name: platform, exact: true }) });
    const [ios, android] = [sheet('iOS'), sheet('Android')];
    const keep = (of: Locator): Promise<void> =>
      of.getByRole('button', { name: 'Check and save' }).click();
    const place = (of: Locator): Locator => of.locator('label.drop');
    const p8 = { name: 'AuthKey_ABCDE12345.p8', text: UNKNOWN_APNS.privateKey };
    const json = (value: unknown): DroppedFile => ({
      name: 'account.json',
      text: JSON.stringify(value),
    });
    const half = (pem: string): string =>
      pem
        .split('\n')
        .filter((_, line) => line !== 2)
        .join('\n');

    await t.test('what is wrong with a file is said at once', async () => {
      const faults: readonly (readonly [Locator, readonly DroppedFile[], string])[] = [
        [ios, [{ name: 'notes.txt', text: 'hello' }], 'This is not a .p8 file'],
        [ios, [json(account)], 'This is a JSON file'],
        [ios, [{ ...p8, text: half(p8.text) }], 'This .p8 file is damaged'],
        [ios, [{ ...p8, text: p8.text.split('-----END').at(0) ?? '' }], 'This .p8 file is damaged'],
        [
          ios,
          [{ name: 'aps.pem', text: '-----BEGIN CERTIFICATE-----\nMIIB\n' }],
          'This is a certificate.',
        ],
        [ios, [p8, p8], 'Drop one file, not several.'],
        [ios, [], 'That was not a file.'],
        [ios, [{ ...p8, text: 'x'.repeat(70_000) }], 'AuthKey_ABCDE12345.p8 is too large'],
        [android, [p8], 'This is a private key for iOS.'],
        [android, [{ name: 'account.json', text: '{"type": ' }], 'This is not the JSON file'],
        [android, [json({ project_info: {} })], 'This is google-services.json'],
        [android, [json({ ...account, client_email: undefined })], 'has no "client_email"'],
        [
          android,
          [json({ ...account, private_key: half(account['private_key'] ?? '') })],
          'The "private_key" in this JSON is damaged',
        ],
      ];
      for (const [of, files, sentence] of faults) {
        await drop(page, place(of), files);
        await of.getByRole('status').getByText(sentence).waitFor();
      }
    });

    await t.test('another file that is wrong takes nothing of what is typed', async (t) => {
      await drop(page, place(ios), [p8]);
      await ios.getByLabel('Team ID').fill('TEAM');
      await ios.getByLabel('Bundle ID').fill('example.kurier');
      await drop(page, place(ios), [{ name: 'notes.txt', text: 'hello' }]);
      await ios.getByText('This is not a .p8 file').waitFor();
      await keep(ios);
      await ios
        .getByText(/must be 10 capital letters and digits/)
        .first()
        .waitFor();
      const isStayed = await page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['x'], 'key.p8'));
        const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
        return !document.querySelector('h1').dispatchEvent(event);
      })()`);
      t.equal(isStayed, true, 'beside the place no browser opens the file in place of the page');
      const values = ['Key ID', 'Team ID', 'Bundle ID'].map((label) =>
        ios.getByLabel(label).inputValue(),
      );
      t.strictSame(await Promise.all(values), ['ABCDE12345', 'TEAM', 'example.kurier']);
      t.equal((await stored(IOS)).hasCredential, false, 'nothing is kept');
    });

    await t.test('one that the provider refuses is kept, and said to be', async (t) => {
      await ios.getByLabel('Team ID').fill('TEAM123456');
      await keep(ios);
      await ios.getByText(/Saved\. The provider refuses it\. /).waitFor();
      await ios.getByText('Key refused', { exact: true }).waitFor();
      await drop(page, place(android), [json(UNKNOWN_FCM)]);
      await keep(android);
      await android.getByText(/Saved\. It cannot sign in: /).waitFor();
      await android.getByText('Key refused', { exact: true }).waitFor();
      t.strictSame(
        (await Promise.all([stored(IOS), stored(ANDROID)])).map(({ check }) => check?.ok),
        [false, false],
      );
      await page.goto(room('overview'));
      await page.getByText('Kurier').first().waitFor();
      await page.getByRole('link', { name: 'Check the key' }).first().click();
      await ios.getByText('Key refused', { exact: true }).waitFor();
    });

    await t.test('one that it accepts works, by a probe too', async () => {
      const { keyId, teamId, privateKey } = known.apns;
      await drop(page, place(ios), [{ name: `AuthKey_${keyId}.p8`, text: privateKey }]);
      await ios.getByLabel('Team ID').fill(teamId);
      await ios.getByLabel('Bundle ID').fill('org.tagcast.demo');
      await keep(ios);
      await ios.getByText('Saved. The provider accepts it.').waitFor();
      await ios.getByText('Works', { exact: true }).waitFor();
      await drop(page, place(android), [json(account)]);
      await keep(android);
      await android.getByText('Works', { exact: true }).waitFor();
      const probed = page.waitForResponse((response) => response.url().endsWith('/probe'));
      // A client may ask once a second.
      await page.waitForTimeout(1_000);
      await android.getByRole('button', { name: 'Test credentials' }).click();
      await probed;
      await android.getByText('The provider accepts it.', { exact: true }).waitFor();
    });

    await t.test('one that ends is told of before, and afterwards', async (t) => {
      const soon = new Date(Date.now() + 10 * DAY_MS);
      const day = [soon.getFullYear(), soon.getMonth() + 1, soon.getDate()]
        .map((part) => `${part}`.padStart(2, '0'))
        .join('-');
      await drop(page, place(android), [json(account)]);
      await android.getByLabel('Expires on').fill(day);
      await page.waitForTimeout(1_000);
      await keep(android);
      await android.getByText('Upload a new key before this one expires.').waitFor();
      await android.getByText(/^Expires /).waitFor();
      const { expiresAt = 0 } = await stored(ANDROID);
      const end = new Date(soon.getFullYear(), soon.getMonth(), soon.getDate() + 1);
      t.equal(expiresAt, end.getTime(), 'the end of that day');
      await page.clock.setFixedTime(expiresAt + DAY_MS);
      await page.reload();
      await android.getByText('Key expired', { exact: true }).waitFor();
      await android
        .getByText('Nothing can be sent with this key any more: upload a new one.')
        .waitFor();
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
