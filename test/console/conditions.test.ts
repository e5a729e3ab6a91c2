/** An audience as conditions: by the keyboard alone, as text and back, also of a segment. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { appOf } from '../support/client.ts';
import { makeConsoleClient } from '../support/console.ts';
import { until } from '../support/poll.ts';

t.setTimeout(240_000);

const IOS = 3;
/** More often than the way to any field is long. */
const TABS_MAX = 30;

t.test('conditions', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { appId } = demo;
    const [tagId = 0] = demo.tagIds;
    const admin = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}`;
    const headers = { Authorization: `Bearer ${demo.superUser.token}` };
    const tag = (await (await fetch(`${admin}/tags/${tagId}`, { headers })).json()) as {
      readonly name: string;
      readonly sourceId?: string;
    };
    const tagText = tag.sourceId ?? `#${tagId}`;
    for (const attribute of [
      { name: 'plan', type: 'text' },
      { name: 'customer', type: 'text', personal: true },
      { name: 'pays', type: 'boolean' },
    ]) {
      const body = JSON.stringify(attribute);
      await fetch(`${admin}/attributes`, { method: 'POST', headers, body });
    }
    await fetch(`${admin}/segments`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ name: 'staff', expression: '@plan = staff' }),
    });
    for (const [digit, attributes] of [
      ['1', { language: 'de-CH', appVersion: '5.2', plan: 'gold', pays: true }],
      ['2', { language: 'fr', appVersion: '5.0.1', plan: 'staff', customer: 'Ada' }],
      ['3', { language: 'de', appVersion: '6' }],
      ['4', {}],
    ] as const) {
      const body = { appId, platformId: IOS, deviceId: `${digit}7`.repeat(32), tagId, attributes };
      await appOf(demo).request('POST', '/push-api/reg', { body });
    }
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const text = page.getByRole('textbox', { name: 'Expression' });
    const counted = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
    const shows = (name: string | RegExp) => page.getByText(name).first().waitFor();
    const reads = (value: string) =>
      until(`the text is ${value}`, async () =>
        (await text.inputValue()) === value ? true : null,
      );
    const row = (at: string) => page.getByRole('group', { name: `Condition ${at}`, exact: true });
    const { keyboard } = page;
    const tabTo = async (name: string): Promise<void> => {
      const named = page.locator(':focus').and(page.getByRole('button', { name, exact: true }));
      for (let tab = 0; tab < TABS_MAX && (await named.count()) === 0; tab += 1) {
        await keyboard.press('Tab');
      }
    };
    const looks = async (name: string) => {
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], `${name}, ${look}`);
        const widthPx = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        t.ok(Number(widthPx) <= 0, `${name}, ${look}: as wide as the window`);
        await takePicture(page, `${name}-${look}`);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(LOOKS.light.viewport);
    };

    await t.test('by the keyboard alone: a tag, and one of two attributes', async (t) => {
      await page.goto(room('send'));
      await page.getByRole('combobox').first().and(page.locator(':focus')).waitFor();
      await keyboard.type(tag.name);
      await page.getByRole('option', { name: tag.name }).first().waitFor();
      await keyboard.press('Enter');
      await counted('4 devices');
      await keyboard.press('Escape');
      await tabTo('Add conditions (attributes, segments)');
      await keyboard.press('Enter');
      await row('1').getByText(tag.name).waitFor();
      await reads(tagText);
      await tabTo('Add a condition');
      await keyboard.press('Enter');
      await row('2').getByLabel('Condition', { exact: true }).and(page.locator(':focus')).waitFor();
      await reads(`${tagText} && …`);
      await shows('Fill in every condition first.');
      await keyboard.type('Language');
      await keyboard.press('Tab');
      await keyboard.press('Tab');
      await keyboard.type('de');
      await page.getByRole('option', { name: 'de-CH <5 devices' }).waitFor();
      await keyboard.press('ArrowDown');
      await keyboard.press('ArrowDown');
      await keyboard.press('Enter');
      await reads(`${tagText} && @language = de-CH`);
      await counted('1 device');
      await tabTo('Or instead…');
      await keyboard.press('Enter');
      await row('2.2')
        .getByLabel('Condition', { exact: true })
        .and(page.locator(':focus'))
        .waitFor();
      await keyboard.type('App version');
      await keyboard.press('Tab');
      await keyboard.type('is less');
      await keyboard.press('Tab');
      await keyboard.type('5.1');
      await reads(`${tagText} && (@language = de-CH || @appVersion < 5.1)`);
      await counted('2 devices');
      await keyboard.press('Escape');
      t.strictSame(await axeFaults(page), []);
      await takePicture(page, 'conditions');
    });

    await t.test('what is typed as text shows as conditions, and follows them', async (t) => {
      await text.fill(`${tagText} && @lastSeen >= -7d && @platform in (3, 15) && !(@pays = true)`);
      const days = row('2').getByLabel('Number');
      await days.waitFor();
      t.equal(await days.inputValue(), '7');
      t.ok(await row('3').getByRole('checkbox', { name: 'iOS' }).isChecked());
      await row('3').getByRole('checkbox', { name: 'Android' }).uncheck();
      await days.fill('30');
      await row('4').getByLabel('Value', { exact: true }).selectOption('No');
      await reads(`${tagText} && @lastSeen >= -30d && @platform in (3) && !(@pays = false)`);
      await row('2').getByLabel('Time').selectOption('as a date (UTC)');
      await row('2').getByLabel('Value', { exact: true }).fill('2020-01-31');
      await row('4').getByRole('button', { name: 'Remove condition 4' }).click();
      await reads(`${tagText} && @lastSeen >= 2020-01-31 && @platform in (3)`);
      await counted('4 devices');
      await looks('conditions-kinds');
      await page.getByRole('radio', { name: 'Any condition' }).check();
      await reads(`${tagText} || @lastSeen >= 2020-01-31 || @platform in (3)`);
      await shows(/This alternative needs a tag/);
    });

    await t.test('what conditions cannot show stays text', async (t) => {
      const deep = `${tagText} && (@pays || (@plan = gold && !@country))`;
      await text.fill(deep);
      await shows('This expression cannot be shown as conditions. It stays as text.');
      t.equal(await page.getByRole('group', { name: /^Condition/ }).count(), 0);
      await counted('1 device');
      t.equal(await text.inputValue(), deep);
    });

    await t.test('what is to be filled in is kept with the draft', async () => {
      await text.fill(tagText);
      await row('1').waitFor();
      await page.getByRole('button', { name: 'Add a condition' }).click();
      await row('2').getByLabel('Condition', { exact: true }).selectOption('Segment');
      await reads(`${tagText} && $…`);
      await page.reload();
      await row('2').getByLabel('Segment').selectOption('staff');
      await reads(`${tagText} && $staff`);
      await counted('1 device');
    });

    await t.test('a segment is made of conditions', async (t) => {
      await page.goto(room('segments/new'));
      await page.getByLabel('Name', { exact: true }).fill('customers');
      await row('1').getByLabel('Condition', { exact: true }).selectOption('customer');
      await row('1').getByRole('combobox', { name: 'Value', exact: true }).fill('Ad');
      t.equal(await row('1').locator('.option').count(), 0, 'personal values are not offered');
      await row('1').getByLabel('Comparison', { exact: true }).selectOption('is one of');
      await row('1').getByRole('combobox', { name: 'Values' }).focus();
      await keyboard.type('Ada');
      await keyboard.press('Enter');
      await page.getByRole('button', { name: 'Remove Ad', exact: true }).click();
      await reads('@customer in (Ada)');
      await counted('1 device');
      t.strictSame(await axeFaults(page), []);
      await takePicture(page, 'segment-conditions');
      await page.getByRole('button', { name: 'Create segment' }).click();
      await page.getByRole('link', { name: 'customers' }).click();
      await row('1').getByText('Ada').waitFor();
      await shows('Nothing has changed.');
      const others = await row('1')
        .getByLabel('Condition', { exact: true })
        .locator('option')
        .allTextContents();
      t.ok(others.includes('Segment'));
      await counted('1 device');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
