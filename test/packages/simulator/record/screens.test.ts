import t from 'tap';
import type { Shown } from '../../../../packages/simulator/src/record/screens.ts';
import { Screens } from '../../../../packages/simulator/src/record/screens.ts';

const shown = (title: string, identity: string | null): Shown => ({
  identity,
  title,
  body: null,
  pushId: null,
});

t.test('a message takes the place of the one with the same identity', (t) => {
  const screens = new Screens();
  const show = (title: string, identity: string | null, token = 'one') =>
    screens.show(token, shown(title, identity));
  const titles = (token = 'one') => screens.of(token).map(({ title }) => title);
  show('1:0', 'match-1');
  show('news', 'job');
  show('1:1', 'match-1');
  t.same(titles(), ['news', '1:1']);
  show('a', null);
  show('a', null);
  t.same(titles(), ['news', '1:1', 'a', 'a'], 'none takes the place of none');
  t.same(titles('other'), []);
  show('1:2', 'match-1', 'other');
  t.same(titles(), ['news', '1:1', 'a', 'a'], 'of the same device');
  screens.clear();
  t.same([titles(), titles('other')], [[], []]);
  t.end();
});

t.test('a device shows the newest ones', (t) => {
  const screens = new Screens();
  for (let index = 0; index < 51; index += 1) screens.show('one', shown(`${index}`, `${index}`));
  t.equal(screens.of('one').length, 50);
  t.match(screens.of('one').at(0), { title: '1' });
  t.match(screens.of('one').at(-1), { title: '50' });
  t.end();
});
