import t from 'tap';
import { fetchCommand } from '../../src/cli/fetch.ts';

t.test('a header field that cannot be written is a wrong argument', async (t) => {
  for (const line of ['x: \u{2603}', '\u{2603}: x', 'x: \0', 'x y: z', ': x']) {
    t.equal(await fetchCommand.run(['--header', line, 'http://127.0.0.1:1/']), 2, line);
  }
});
