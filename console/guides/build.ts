/**
 * The guides: docs/ and READMEs of packages as pages, each with its compressed forms, in a folder from where the engine
 * serves them. Nothing is rendered when somebody asks.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, posix } from 'node:path';
import { CONTENTS, PAGES } from './contents.ts';
import type { Frame } from './layout.ts';
import { pageOf } from './layout.ts';
import type { Rendered } from './markdown.ts';
import { escaped, renderMarkdown } from './markdown.ts';

/** What a missing page shows. */
const NOT_FOUND = `# There is no such page

It may have got another name. [All guides](guide/index.md) begin with the [quick start](guide/quick-start.md).
`;
const FONT = '@fontsource-variable/instrument-sans/files/instrument-sans-latin-wght-normal.woff2';

/** Builds all of it into `out`; `console` is the folder of the console. */
export function buildGuides(console: string, out: string): void {
  const root = join(console, '..');
  const require = createRequire(join(console, 'package.json'));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, 'assets'), { recursive: true });

  /** Writes a file under a name that changes with its contents, and returns its address. */
  const keep = (name: string, octets: string | Buffer): string => {
    const extension = extname(name);
    const digest = createHash('sha256').update(octets).digest('base64url').slice(0, 8);
    const address = `assets/${name.slice(0, -extension.length)}-${digest}${extension}`;
    writeFileSync(join(out, address), octets);
    return address;
  };
  const text = (path: string): string => readFileSync(path, 'utf8');

  const font = keep('instrument-sans.woff2', readFileSync(require.resolve(FONT)));
  const style = `${text(join(console, 'src/look/tokens.css'))}${text(join(console, 'guides/guides.css'))}`;
  const mark = text(join(console, 'src/look/mark.svg')).replace(
    '<svg ',
    '<svg aria-hidden="true" ',
  );

  const read = (source: string, markdown: string): Rendered =>
    renderMarkdown(markdown, {
      addressOf(target) {
        const document = posix.join('docs', posix.dirname(source), target);
        const page = PAGES.find((page) => posix.join('docs', `${page.source}.md`) === document);
        return page?.address ?? null;
      },
      pictureOf(target, alternative) {
        const path = join(root, 'docs', posix.join(posix.dirname(source), target));
        if (extname(path) === '.svg') return drawingOf(text(path), alternative);
        const address = keep(posix.basename(target), readFileSync(path));
        return `<img src="${address}" alt="${escaped(alternative)}" loading="lazy">`;
      },
    });
  const rendered = new Map(
    PAGES.map(({ source }) => [source, read(source, text(join(root, 'docs', `${source}.md`)))]),
  );
  const frame: Frame = {
    contents: CONTENTS,
    titles: new Map([...rendered].map(([source, { title }]) => [source, title])),
    mark,
    assets: {
      style: keep('guides.css', style.replace(FONT, posix.basename(font))),
      script: keep('guides.js', text(join(console, 'guides/guides.js'))),
    },
  };
  for (const { source, address } of PAGES) {
    const name = address === './' ? 'index' : address;
    const page = rendered.get(source);
    if (page !== undefined) writeFileSync(join(out, `${name}.html`), pageOf(frame, source, page));
  }
  writeFileSync(join(out, 'not-found.html'), pageOf(frame, null, read('not-found', NOT_FOUND)));
}

/** A drawing stands in the page itself, so that it has the page's colours. */
const drawingOf = (svg: string, alternative: string): string =>
  svg
    .trim()
    .replace('<svg ', `<svg class="drawing" role="img" aria-label="${escaped(alternative)}" `);
