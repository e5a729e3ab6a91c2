/**
 * Markdown of docs/ as HTML: headings with the anchors that GitHub gives them, links to other pages
 * by their addresses, pictures in their place. There is no HTML in these documents: what looks like
 * it is text.
 */

import type { Tokens } from 'marked';
import { Marked } from 'marked';

export interface Heading {
  readonly text: string;
  readonly anchor: string;
  readonly depth: number;
}

export interface Rendered {
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly html: string;
}

/** What a document leads to. */
export interface Surroundings {
  /** The address of a document that is a page; null: it is none, and the link is its text alone. */
  addressOf(target: string): string | null;
  /** A picture as HTML. */
  pictureOf(target: string, alternative: string): string;
}

const ELSEWHERE = /^(?:https?:|mailto:)/;
/** An address of the engine itself: from the page `/docs/…` one folder up. */
const OF_THE_ENGINE = /^\/(?!\/)/;
/** What GitHub leaves out of an anchor. */
const NOT_IN_ANCHORS = /[^\p{L}\p{N}_ -]/gu;

export function renderMarkdown(source: string, { addressOf, pictureOf }: Surroundings): Rendered {
  const headings: Heading[] = [];
  const seen = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, text, depth }: Tokens.Heading): string {
        const inner = this.parser.parseInline(tokens);
        const anchor = anchorOf(text, seen);
        headings.push({ text: inner, anchor, depth });
        if (depth === 1) return `<h1 id="${anchor}">${inner}</h1>\n`;
        return `<h${depth} id="${anchor}"><a class="anchor" href="#${anchor}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const inner = this.parser.parseInline(tokens);
        if (ELSEWHERE.test(href) || href.startsWith('#')) return `<a href="${href}">${inner}</a>`;
        if (OF_THE_ENGINE.test(href)) return `<a href="..${href}">${inner}</a>`;
        const [file = '', anchor] = href.split('#');
        const address = addressOf(file);
        if (address === null) return inner;
        return `<a href="${address}${anchor === undefined ? '' : `#${anchor}`}">${inner}</a>`;
      },
      image: ({ href, text }: Tokens.Image): string => pictureOf(href, text),
      code({ text, lang = '' }: Tokens.Code): string {
        const [language = ''] = lang.split(' ');
        const named = FILE.exec(lang)?.[1];
        const caption = named === undefined ? '' : `<figcaption>${named}</figcaption>`;
        const kind = language === 'output' ? ' class="output"' : '';
        return `<figure${kind}>${caption}<pre tabindex="0"><code>${escaped(text)}</code></pre></figure>\n`;
      },
      table(token: Tokens.Table): string {
        const row = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td'): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const rows = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>\n${rows}\n</tbody></table></div>\n`;
      },
      html: ({ text }: Tokens.HTML | Tokens.Tag): string => escaped(text),
    },
  });
  const html = marked.parse(source, { async: false });
  const title = headings.find(({ depth }) => depth === 1)?.text;
  if (title === undefined) throw new Error('A page begins with a heading: # Title');
  return { title, headings, html };
}

/** `php file=send.php`: the block is this file. */
const FILE = /\bfile=(\S+)/;

/** As GitHub makes them; of headings alike the second one ends in -1. */
function anchorOf(text: string, seen: Map<string, number>): string {
  const anchor = text.toLowerCase().replaceAll(NOT_IN_ANCHORS, '').replaceAll(' ', '-');
  const count = seen.get(anchor) ?? 0;
  seen.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}

export const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
