/** Composing: the audience and the buttons stay in sight, and a greyed button says why. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';

t.setTimeout(240_000);

t.test('the bar of a send', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: 2 });
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    await page.goto(room('send'));
    const bar = page.getByRole('region', { name: 'Send', exact: true });
    const button = bar.getByRole('button', { name: /^Send (…|to)|^Send…|^Schedule/ });
    const says = async (why: string) => {
      await bar.getByText(why).waitFor();
      t.ok(await button.isDisabled(), why);
      const described = await button.getAttribute('aria-describedby');
      t.equal(await page.locator(`[id="${described}"]`).textContent(), why);
    };

    await t.test('what is missing, one thing after the other', async (t) => {
      await says('Choose a tag first.');
      await page.keyboard.type('Breaking');
      await page.getByRole('option', { name: 'Breaking news' }).click();
      await says('Write a title or a message.');
      await page.getByLabel('Title', { exact: true }).fill('Goal!');
      await bar.getByText('iOS 2').waitFor();
      await page.getByText('Schedule', { exact: true }).click();
      await says('Choose a time, or send now.');
      await page.getByText('Now', { exact: true }).click();
      await button.and(page.locator(':enabled')).waitFor();
      t.equal(await button.getAttribute('aria-describedby'), null);
      t.match(await button.textContent(), /^Send to 2 devices…/);
    });

    for (const [look, options] of Object.entries(LOOKS)) {
      await t.test(`in sight from the top to the end of the page: ${look}`, async (t) => {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        for (const place of ['0', 'document.body.scrollHeight']) {
          await page.evaluate(`scrollTo(0, ${place})`);
          const box = await button.boundingBox();
          t.ok(box !== null && box.y >= 0, place);
          t.ok((box?.y ?? 0) + (box?.height ?? 0) <= options.viewport.height, place);
          // Nothing lies over it: the rail of a phone is below.
          await button.click({ trial: true });
        }
        t.strictSame(await axeFaults(page), []);
        await takePicture(page, `send-bar-${look}`);
      });
    }

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
