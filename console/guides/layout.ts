/** A page of the guides around what Markdown gave: head, way to the others, what is on it. */

import type { Part } from './contents.ts';
import type { Heading, Rendered } from './markdown.ts';

/** Files of every page, by their names below `/docs/`. */
export interface Assets {
  readonly style: string;
  readonly script: string;
}

export interface Frame {
  readonly contents: readonly Part[];
  /** By the source of a page. */
  readonly titles: ReadonlyMap<string, string>;
  readonly mark: string;
  readonly assets: Assets;
}

/** Headings that the list of a page shows. */
const LISTED_DEPTH = 2;
/** A page of fewer needs no list. */
const LISTED_MIN = 3;

/** `source`: which page of the contents it is; null: none. */
export function pageOf(frame: Frame, source: string | null, page: Rendered): string {
  const { mark, assets } = frame;
  const title = page.title.replaceAll(/<[^>]*>/g, '');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tagcast</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}" defer></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<a class="brand" href="./">${mark} Tagcast <span>Guides</span></a>
<nav aria-label="Elsewhere"><a class="narrow" href="#contents">All pages</a> <a href="api">Try the API</a> <a href="../console/">Console</a></nav>
</header>
<div class="columns">
<main id="content" tabindex="-1">
<article>
${withList(page)}</article>
${neighboursOf(frame, source)}</main>
<nav id="contents" aria-label="All pages">
${frame.contents.map((part) => partOf(frame, part, source)).join('\n')}
</nav>
</div>
</body>
</html>
`;
}

/** The page with the list of its parts below its title. */
function withList({ html, headings }: Rendered): string {
  const listed = headings.filter(({ depth }) => depth === LISTED_DEPTH);
  if (listed.length < LISTED_MIN) return html;
  const entry = ({ text, anchor }: Heading): string => `<li><a href="#${anchor}">${text}</a></li>`;
  const list = `<nav class="parts" aria-label="On this page"><ul>\n${listed.map(entry).join('\n')}\n</ul></nav>\n`;
  return html.replace('</h1>\n', `</h1>\n${list}`);
}

function partOf({ titles }: Frame, { title, pages }: Part, current: string | null): string {
  const entries = pages.map(({ source, address }) => {
    const here = source === current ? ' aria-current="page"' : '';
    return `<li><a href="${address}"${here}>${titles.get(source)}</a></li>`;
  });
  return `<h2>${title}</h2>\n<ul>\n${entries.join('\n')}\n</ul>`;
}

function neighboursOf({ contents, titles }: Frame, current: string | null): string {
  const pages = contents.flatMap((part) => part.pages);
  const index = pages.findIndex(({ source }) => source === current);
  if (index === -1) return '';
  const link = (offset: number, word: string): string => {
    const page = pages[index + offset];
    if (page === undefined) return '';
    return `<a href="${page.address}">${word}: ${titles.get(page.source)}</a>\n`;
  };
  return `<nav class="neighbours" aria-label="Before and after">\n${link(-1, 'Before')}${link(1, 'Next')}</nav>\n`;
}
