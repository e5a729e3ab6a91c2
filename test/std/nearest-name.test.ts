import t from 'tap';
import { nearestName } from '../../src/std/nearest-name.ts';

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
