/** Where a webhook may be, by what its address says. */

import t from 'tap';
import { addressFault } from '../../src/webhooks/address.ts';

const PUBLIC = [
  'https://cms.example.com/hook?key=1',
  'https://93.184.215.14:8443/',
  'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
  // It is looked up when it is connected to.
  'https://localhost/',
];
const PRIVATE = [
  'https://127.0.0.1/',
  // URL reads all of these as 127.0.0.1.
  'https://2130706433/',
  'https://0x7f.1/',
  'https://127.1/',
  'https://10.1.2.3/',
  'https://169.254.169.254/latest/meta-data',
  'https://192.168.0.1/',
  'https://224.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[fe80::1]/',
  'https://[fd00::1]/',
  'https://[ff02::1]/',
  'http://cms.example.com/hook',
];
const NEVER = [
  '',
  'cms.example.com',
  'ftp://cms.example.com/',
  'file:///etc/passwd',
  'https://user:password@cms.example.com/',
  'https://cms.example.com/#part',
  `https://cms.example.com/${'a'.repeat(2_048)}`,
];

t.test('in the public internet, by https alone', (t) => {
  for (const url of PUBLIC) t.equal(addressFault(url, false), null, url);
  for (const url of [...PRIVATE, ...NEVER]) t.type(addressFault(url, false), 'string', url);
  t.end();
});

t.test('elsewhere, where the operator allows it', (t) => {
  for (const url of [...PUBLIC, ...PRIVATE]) t.equal(addressFault(url, true), null, url);
  for (const url of NEVER) t.type(addressFault(url, true), 'string', url);
  t.end();
});
