/** Server-sent events of an answer's body, as they come (HTML, 9.2.6). */

/** The fields between two empty lines; '' for a field that is missing. */
export interface SentEvent {
  readonly event: string;
  readonly data: string;
  /** Milliseconds after which to come again, when the stream breaks. */
  readonly retry: string;
}

const EVENT_END = /\r\n\r\n|\n\n|\r\r/;
const LINE_END = /\r\n|\n|\r/;

/** Reads events until the body ends. Rejects when it breaks; leaving the loop cancels it. */
export async function* readEvents(
  body: ReadableStream<Uint8Array> | null,
  onPiece: () => void = () => undefined,
): AsyncGenerator<SentEvent, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let unread = '';
  try {
    while (true) {
      const { value, done } = await reader.read();
      if (done) return;
      onPiece();
      const parts = (unread + decoder.decode(value, { stream: true })).split(EVENT_END);
      unread = parts.pop() ?? '';
      for (const part of parts) yield eventOf(part);
    }
  } finally {
    // A body that broke rejects this, too.
    reader.cancel().catch(() => undefined);
  }
}

function eventOf(text: string): SentEvent {
  const lines = text.split(LINE_END);
  const field = (name: string): string =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(FIRST_SPACE, ''))
      .join('\n');
  return { event: field('event'), data: field('data'), retry: field('retry') };
}

const FIRST_SPACE = /^ /;

/** Ends a request whose answer has been silent for too long. */
export class Silence {
  readonly #limitMs: number;
  readonly #ending = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const text = `Nothing was heard for ${this.#limitMs} ms.`;
      this.#ending.abort(new DOMException(text, 'TimeoutError'));
    }, this.#limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
