/** Passwords as they are kept and checked. */

import t from 'tap';
import { Passwords } from '../../../src/access/accounts/passwords.ts';
import { LOW_COSTS } from '../../support/accounts.ts';

const STRANGER = { network: 'a', isKnown: false };
const FORM = /^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/;

t.test('a hash is salted, and right for its password only', async (t) => {
  const passwords = new Passwords();
  const [first, second] = await Promise.all([
    passwords.hash('correct horse', STRANGER),
    passwords.hash('correct horse', STRANGER),
  ]);
  t.match(first, FORM);
  t.not(first, second);
  t.equal(await passwords.verify('correct horse', first, STRANGER), true);
  t.equal(await passwords.verify('Correct horse', first, STRANGER), false);
  t.equal(await passwords.verify('', first, STRANGER), false);
  t.equal(await passwords.verify('correct horse', null, STRANGER), false, 'where there is none');
  t.equal(await passwords.verify('correct horse', 'damaged', STRANGER), false);
});

t.test('the same letters from another keyboard', async (t) => {
  const passwords = new Passwords(LOW_COSTS);
  const composed = await passwords.hash('caf\u00e9 au lait', STRANGER);
  t.equal(await passwords.verify('cafe\u0301 au lait', composed, STRANGER), true);
});

t.test('a hash with other costs is still checked', async (t) => {
  const passwords = new Passwords();
  // scryptSync('old', 'salt', 32, { N: 1024, r: 8, p: 1 })
  const { scryptSync } = await import('node:crypto');
  const derived = scryptSync('old', 'salt', 32, { N: 1_024, r: 8, p: 1 });
  const stored = `scrypt$1024$8$1$${Buffer.from('salt').toString('base64url')}$${derived.toString('base64url')}`;
  t.equal(await passwords.verify('old', stored, STRANGER), true);
  t.equal(await passwords.verify('new', stored, STRANGER), false);
});

t.test('some at a time; one network does not take all places', async (t) => {
  const passwords = new Passwords(LOW_COSTS);
  const verify = (network: string, isKnown = false) =>
    passwords.verify('x', null, { network, isKnown });
  const ofOne = Array.from({ length: 6 }, () => verify('one'));
  const ended: string[] = [];
  const ofOthers = Array.from({ length: 32 }, (_, n) =>
    verify(`other ${n}`).finally(() => ended.push('stranger')),
  );
  const known = verify('home', true).finally(() => ended.push('known'));
  t.equal(await known, false, 'who has signed in before gets in');
  t.ok(ended.indexOf('known') < 6, 'and waits for none of the strangers that wait');
  const answers = [...(await Promise.all(ofOne)), ...(await Promise.all(ofOthers))];
  t.same(
    answers.slice(0, 6),
    [false, false, false, 'busy', 'busy', 'busy'],
    'four of a network, and the newest of them makes room for another',
  );
  t.same(
    answers.slice(6).filter((answer) => answer === 'busy').length,
    1,
    'two at work and 32 waiting: the last one is sent away',
  );
  t.equal(await verify('one'), false, 'later there is room again');
});

t.test('some networks do not take all places from others', async (t) => {
  for (const isKnown of [false, true]) {
    const passwords = new Passwords(LOW_COSTS);
    const verify = (network: string) => passwords.verify('x', null, { network, isKnown });
    const crowd = Array.from({ length: 9 }, (_, n) =>
      Array.from({ length: 4 }, () => verify(`crowd ${n}`)),
    );
    const [one, two] = [verify('one'), verify('two')];
    t.same(await Promise.all([one, two]), [false, false], 'who comes alone gets a place');
    const answers = await Promise.all(crowd.map((asked) => Promise.all(asked)));
    const newest = answers.map((asked) => asked.at(-1));
    t.ok(newest.includes('busy'), 'the newest of those who have most');
    t.ok(answers.every(([oldest]) => oldest !== 'busy' || isKnown));
    t.same(await Promise.all([verify('one'), verify('crowd 1')]), [false, false], 'room again');
  }
});

t.test('the networks of a site count together', async (t) => {
  const passwords = new Passwords(LOW_COSTS);
  const verify = (network: string) => passwords.verify('x', null, { network, isKnown: false });
  const crowd = Array.from({ length: 5 }, (_, site) =>
    Array.from({ length: 8 }, (_, n) => verify(`2001:db8:${site}:${n}`)),
  );
  t.equal(await verify('192.0.2.1'), false);
  await Promise.all(crowd.flat());
});

t.test('a site does not take all places by its many networks', async (t) => {
  const passwords = new Passwords(LOW_COSTS);
  const verify = (n: number) =>
    passwords.verify('x', null, { network: `2001:db8:1:${n}`, isKnown: false });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => verify(n)));
  t.same(answers, [...Array.from({ length: 8 }, () => false), 'busy', 'busy']);
});
