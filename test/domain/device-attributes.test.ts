import t from 'tap';
import {
  areKept,
  isAttribute,
  latestAttributes,
  NO_ATTRIBUTES,
  takeAttributes,
} from '../../src/domain/device-attributes.ts';

const versioned = (appVersion: string) => ({ ...NO_ATTRIBUTES, appVersion });

t.test('what is not given stays as it was', (t) => {
  t.same(latestAttributes(versioned('1'), NO_ATTRIBUTES), versioned('1'));
  t.same(latestAttributes(versioned('1'), versioned('2')), versioned('2'));
  t.same(latestAttributes(NO_ATTRIBUTES, versioned('2')), versioned('2'));
  t.end();
});

t.test('a repetition is known as one', (t) => {
  t.equal(areKept(versioned('1'), versioned('1')), true);
  t.equal(areKept(versioned('1'), NO_ATTRIBUTES), true);
  t.equal(areKept(versioned('1'), versioned('2')), false);
  t.equal(areKept(NO_ATTRIBUTES, versioned('1')), false);
  t.end();
});

t.test('only a text that can be stored is an attribute', (t) => {
  t.equal(isAttribute('appVersion', 'x'.repeat(255)), true);
  for (const bad of [1, null, 'x'.repeat(256), 'a\0', '\ud800']) {
    t.equal(isAttribute('appVersion', bad), false);
  }
  t.end();
});

t.test('attributes are taken out of a record', (t) => {
  const taken = takeAttributes({ appVersion: '1', colour: 'red' });
  t.same(taken, { attributes: versioned('1'), others: ['colour'] });
  t.same(takeAttributes({}), { attributes: NO_ATTRIBUTES, others: [] });
  t.end();
});
