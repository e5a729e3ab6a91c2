/** The cookie of a session, there and back. */

import t from 'tap';
import { sessionCookie, sessionTokenIn } from '../../src/http/session-cookie.ts';

t.test('what scripts cannot read, and other sites do not send', (t) => {
  t.equal(
    sessionCookie('tcn_x', false),
    'tagcast_session=tcn_x; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800',
  );
  t.equal(
    sessionCookie('tcn_x', true),
    '__Host-tagcast_session=tcn_x; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure',
  );
  t.match(sessionCookie(null, true), /^__Host-tagcast_session=; .*Max-Age=0; Secure$/);
  t.end();
});

t.test('found among others, and only by the name of its connection', (t) => {
  t.equal(sessionTokenIn('a=b; tagcast_session=tcn_x; c=d', false), 'tcn_x');
  t.equal(sessionTokenIn('a=b;\ttagcast_session=tcn_x ;c=d', false), 'tcn_x');
  t.equal(sessionTokenIn('tagcast_session=tcn_x', true), null, 'over TLS its name is another');
  t.equal(sessionTokenIn('__Host-tagcast_session=tcn_x', true), 'tcn_x');
  for (const cookies of ['', 'a=b', 'xtagcast_session=y', 'tagcast_session=', 'tagcast_session']) {
    t.equal(sessionTokenIn(cookies, false), null, cookies);
  }
  t.end();
});

t.test('no other cookie can stand for it', (t) => {
  const name = '__Host-tagcast_session';
  // Another host of the domain can set these names and values.
  for (const cookies of [
    `a=x,${name}=tcn_planted`,
    `a=x, ${name}=tcn_planted`,
    `\u00a0${name}=tcn_planted`,
    `a=b; \u00a0${name}=tcn_planted`,
    `${name}\u00a0=tcn_planted`,
  ]) {
    t.equal(sessionTokenIn(cookies, true), null, JSON.stringify(cookies));
    t.equal(sessionTokenIn(`${cookies}; ${name}=tcn_x`, true), 'tcn_x', 'the right one counts');
  }
  t.equal(sessionTokenIn(`${name}=tcn_x; ${name}=tcn_y`, true), null, 'of two, none');
  t.equal(sessionTokenIn(`${name}=tcn_x; ${name}=`, true), null);
  t.end();
});
