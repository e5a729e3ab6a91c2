import t from 'tap';
import { keyOf, readTagChoice } from '../../../src/cli/devices/tag-choice.ts';

const tag = (sourceId: string) => ({ sourceId, id: null, name: null });
const NAMES = ['plan', 'plan:pro', 'plan:free', 'planet', 'user_id:8812', 'news-de', 'news-fr'];

const taken = (only: string | undefined, without?: string) => {
  const choice = readTagChoice(only, without);
  return NAMES.filter((name) => choice.takes(tag(name)));
};

t.test('a name means its tag and its values; a star means what begins so', (t) => {
  t.same(taken(undefined), NAMES);
  t.same(taken('plan'), ['plan', 'plan:pro', 'plan:free']);
  t.same(taken('plan:pro, news*'), ['plan:pro', 'news-de', 'news-fr']);
  t.same(taken('*'), NAMES);
  t.same(taken('plan', 'plan:free'), ['plan', 'plan:pro']);
  t.same(taken(undefined, 'user_id,news*,plan'), ['planet']);
  t.throws(() => readTagChoice('a,,b', undefined), { message: /^--tags must be names/ });
  t.throws(() => readTagChoice(undefined, ''), { message: /^--without-tags must be names/ });
  t.end();
});

t.test('a tag without sourceId goes by its name, then by its id', (t) => {
  const plain = { sourceId: null, id: 7, name: 'Golf' };
  t.ok(readTagChoice('Golf', undefined).takes(plain));
  t.ok(readTagChoice('#7', undefined).takes({ ...plain, name: null }));
  t.same([tag('plan:pro'), tag('news'), plain].map(keyOf), ['plan', 'news', 'Golf']);
  t.end();
});
