import t from 'tap';
import { nearestName } from '../../src/std/nearest-name.ts';

const NAMES = ['app', 'audit', 'client', 'notification', 'DATABASE_URL'];

t.test('a mistyped name is found', (t) => {
  t.equal(nearestName('notificaton', NAMES), 'notification');
  t.equal(nearestName('cleint', NAMES), 'client');
  t.equal(nearestName('apps', NAMES), 'app');
  t.equal(nearestName('DATABSE_URL', NAMES), 'DATABASE_URL');
  t.end();
});

t.test('another word is not', (t) => {
  for (const name of ['', 'ls', 'ap', 'help', 'cat', 'NODE_ENV', 'DATABASE_HOST']) {
    t.equal(nearestName(name, NAMES), null, name);
  }
  t.end();
});
