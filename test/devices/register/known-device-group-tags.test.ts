import t from 'tap';
import { KnownDeviceGroupTags } from '../../../src/devices/register/known-device-group-tags.ts';

const group = { appId: 1, platformId: 3, groupNumber: 0 };

t.test('of a new epoch it knows only what was written in it', (t) => {
  const known = new KnownDeviceGroupTags();
  t.same(known.split(group, [1, 2]), {
    ...group,
    knownTagIds: [],
    knownEpoch: 0,
    newTagIds: [1, 2],
  });
  known.learn([known.split(group, [1, 2])], [{ ...group, version: 1, tagsEpoch: 0 }]);
  t.same(known.split(group, [1, 2, 3]), {
    ...group,
    knownTagIds: [1, 2],
    knownEpoch: 0,
    newTagIds: [3],
  });
  known.learn([known.split(group, [1])], [{ ...group, version: 2, tagsEpoch: 1 }]);
  t.same(known.split(group, [1, 2]), {
    ...group,
    knownTagIds: [1],
    knownEpoch: 1,
    newTagIds: [2],
  });
  t.end();
});

t.test('it forgets the groups that were written longest ago', (t) => {
  const known = new KnownDeviceGroupTags();
  const tagIds = Array.from({ length: 40_000 }, (_, n) => n);
  for (const groupNumber of [0, 1, 2]) {
    const one = { ...group, groupNumber };
    known.learn([known.split(one, tagIds)], [{ ...one, version: 1, tagsEpoch: 0 }]);
  }
  t.equal(known.split({ ...group, groupNumber: 0 }, [1]).newTagIds.length, 1);
  t.equal(known.split({ ...group, groupNumber: 2 }, [1]).newTagIds.length, 0);
  t.end();
});
