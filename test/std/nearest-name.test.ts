import t from 'tap';
import { meantName, nearestName } from '../../src/std/nearest-name.ts';

t.test('the name that was meant', (t) => {
  const known = ['tagIds', 'excludeTagIds', 'excludeTagSourceIds', 'dryRun', 'sendAt'] as const;
  for (const [name, meant] of [
    ['excludeTags', 'excludeTagIds'],
    ['exclude_tag_source_id', 'excludeTagSourceIds'],
    ['dry_run', 'dryRun'],
    ['DRY-RUN', 'dryRun'],
    ['sendat', 'sendAt'],
    ['tags', 'tagIds'],
    ['', 'tagIds'],
    ['x'.repeat(1_000_000), 'excludeTagIds'],
  ] as const) {
    t.equal(nearestName(name, known), meant, name.slice(0, 30));
  }
  t.end();
});

t.test('a name that was mistyped, and another word', (t) => {
  const known = ['app', 'audit', 'client', 'notification', 'DATABASE_URL'];
  for (const [name, meant] of [
    ['notificaton', 'notification'],
    ['cleint', 'client'],
    ['apps', 'app'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ...['', 'ls', 'ap', 'help', 'cat', 'NODE_ENV', 'DATABASE_HOST'].map((word) => [word, null]),
  ] as const) {
    t.equal(meantName(name ?? '', known), meant, name ?? '');
  }
  t.equal(meantName('client', []), null);
  t.end();
});
