/** Every page of a client, with something on each, in each look. */

import t from 'tap';
import { lookAtRoom, openPage, withBrowser } from '../support/browser.ts';
import { finalStatus, post, push } from '../support/client.ts';
import { makeConsoleClient } from '../support/console.ts';

t.setTimeout(240_000);

const HOSTILE = `<img src=x onerror="document.title='owned'">`;
const IOS = 3;

t.test('the rooms of a client', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const ask = async (path: string, body: object, token = demo.superUser.token) => {
      const answer = await post(demo.baseUrl + path, token, body);
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
      return answer;
    };
    const admin = `/push-admin-api/v3/${demo.clientId}`;
    const made = await ask(`${admin}/tags`, { name: HOSTILE, sourceId: 'hostile' });
    const { id: tagId } = (await made.json()) as { readonly id: number };
    await ask(`${admin}/apps`, { name: 'Kurier', platformIds: [IOS] });
    await ask(`${admin}/keys`, { name: 'CMS', scopes: ['send', 'read'] });
    const device = { appId: demo.appId, platformId: IOS, deviceId: 'ab'.repeat(32), tagId };
    await ask('/push-api/reg', device, demo.apiUser.token);
    const job = await push(demo.baseUrl, demo, [tagId], { title: HOSTILE, message: '1:0' });
    await finalStatus(demo.baseUrl, demo, job);
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);

    await t.test(
      'every room, in light, dark and on a phone: nothing for axe, nothing hostile',
      async (t) => {
        const rooms = [
          'overview',
          'send',
          'notifications',
          `notifications/${job}`,
          'tags',
          `tags/${demo.tagIds[0]}`,
          'devices',
          'apps',
          `apps/${demo.appId}`,
          `apps/${demo.appId}/platforms`,
          `apps/${demo.appId}/statistics`,
          'keys',
          'team',
          'audit',
          'settings',
          'more',
        ];
        for (const path of rooms) {
          const name = path.replace(job, 'one').replaceAll('/', '-');
          await lookAtRoom(t, page, name, room(path));
          t.not(await page.title(), 'owned', path);
        }
      },
    );

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
