import t from 'tap';
import { fullVersion, versionInWords } from '../../src/app/version.ts';
import { readText } from '../support/documents.ts';

const { version } = JSON.parse(readText('package.json')) as { readonly version: string };

t.test('the version of package.json, and the commit of the build', (t) => {
  const full = fullVersion();
  t.equal(full.version, version);
  t.equal(versionInWords(), full.commit === null ? version : `${version} (${full.commit})`);
  t.end();
});

t.test('every package has the version of the service', (t) => {
  for (const name of ['client', 'device-files', 'http1', 'http1-uws', 'http2', 'simulator', 'std'])
    t.equal(JSON.parse(readText(`packages/${name}/package.json`)).version, version, name);
  t.equal(JSON.parse(readText('console/package.json')).version, version);
  t.end();
});
