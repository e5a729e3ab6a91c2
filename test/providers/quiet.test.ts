import t from 'tap';
import type { Payload } from '../../src/domain/notification.ts';
import { loudly, quietly } from '../../src/providers/quiet.ts';

t.test('without a sound, whatever overlays ask for; the rest stays', (t) => {
  const loud: Payload = {
    title: 'goal!',
    sound: 'horn',
    data: { sound: 'the app knows why' },
    present: { interruption: 'timeSensitive', thread: 'match' },
    apns: { aps: { sound: 'horn', 'interruption-level': 'critical', badge: 1 }, x: 1 },
    fcm: { android: { notification: { defaultSound: true, sound: 'horn', icon: 'ball' } } },
    webpush: { renotify: true, vibrate: [1], icon: 'ball' },
  };
  const quiet: Payload = {
    title: 'goal!',
    data: { sound: 'the app knows why' },
    present: { interruption: 'passive', thread: 'match' },
    apns: { aps: { badge: 1 }, x: 1 },
    fcm: { android: { notification: { icon: 'ball' } } },
    webpush: { icon: 'ball' },
  };
  t.same(quietly(loud), quiet);
  const languages = [{ language: 'de', payload: loud }];
  t.same(quietly({ ...loud, languages }), {
    ...quiet,
    languages: [{ language: 'de', payload: quiet }],
  });
  t.same(quietly({ title: 'x', data: {} }), {
    title: 'x',
    data: {},
    present: { interruption: 'passive' },
  });
  t.end();
});

t.test('alerting again: browsers are told so, where the payload does not say', (t) => {
  const web = (webpush?: Payload['webpush']) =>
    loudly({ title: 'x', data: {}, ...(webpush === undefined ? {} : { webpush }) }, [7]).webpush;
  t.same(web(), { renotify: true });
  t.same(web({ icon: 'ball' }), { icon: 'ball', renotify: true });
  t.same(web({ renotify: false }), { renotify: false });
  // A browser refuses it without a tag, which only a text has.
  t.same(loudly({ data: {} }, [7]), { data: {} });
  t.same(loudly({ title: 'x', data: {} }, [3, 15]), { title: 'x', data: {} });
  const languages = [{ language: 'de', payload: { title: 'x', data: {} } }];
  t.match(loudly({ data: {}, languages }, [7]).languages, [
    { payload: { webpush: { renotify: true } } },
  ]);
  t.end();
});
