/** `tagcast fetch`: fetches a URL with our HTTP/2 client, also for conformance suites. */

import { readFile } from 'node:fs/promises';
import type { ClientConnection } from '../../packages/http2/src/client/client-connection.ts';
import type { Response } from '../../packages/http2/src/client/client-stream.ts';
import { connect } from '../../packages/http2/src/client/connect.ts';
import type { RequestForm } from '../../packages/http2/src/client/request-form.ts';
import { ErrorCode } from '../../packages/http2/src/error.ts';
import { UsageError } from './arguments.ts';
import type { Command } from './command.ts';
import { createCommand, EXIT_FAILED, ONLY, verb } from './command.ts';
import { processTerminal } from './process-terminal.ts';

const LIMITS = {
  connectTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  streamsMax: 1,
  /** Printed at once, so it is kept in memory. */
  bodyOctetsMax: 256 * 1_024 * 1_024,
  pingAfterSilenceMs: 5_000,
  pingTimeoutMs: 5_000,
  pingsInARowMax: 1,
};

/** A server closes after GOAWAY with an error (RFC 9113, 5.4.1): not awaited for longer. */
const ERROR_PATIENCE_MS = 500;
interface Arguments {
  readonly url: URL;
  readonly form: RequestForm;
  /** Null: the system's certificates only. */
  readonly ca: string | null;
  readonly isInsecure: boolean;
}

const NOTES = `Uses https with ALPN h2, or http in clear text with prior knowledge. Prints the status, an empty line and the body; errors go
to standard error. Exit code 0: a complete answer, whatever its status; 1: no complete answer, or the server broke the protocol;
2: wrong arguments.`;

const FLAGS = {
  data: { type: 'string', about: 'send this as POST; without it the request is a GET' },
  header: {
    type: 'string',
    multiple: true,
    value: 'name: value',
    about: 'another header field',
  },
  'ca-file': {
    type: 'string',
    value: 'file',
    about: "PEM certificates to trust besides the system's",
  },
  insecure: { type: 'boolean', about: 'accept any certificate' },
} as const;

export const fetchCommand: Command = createCommand<Arguments>(
  {
    name: 'fetch',
    notes: NOTES,
    verbs: {
      [ONLY]: verb(
        {
          summary: 'Sends one request with our own HTTP/2 client.',
          arguments: ['url'],
          flags: FLAGS,
        },
        ({ url }, flags) => readArguments(url, flags),
      ),
    },
  },
  processTerminal,
  async (read) => {
    const result = await fetchOnce(read);
    if (!result.ok) return complain(result.reason);
    const head = Buffer.from(`${result.status}\n\n`);
    const fault = await print(Buffer.concat([head, result.body]));
    return fault === null ? 0 : complain(`standard output: ${fault}`);
  },
);

/** Resolves when all is written: with null, or with the error when the reader has gone. */
function print(octets: Buffer): Promise<string | null> {
  return new Promise((resolve) => {
    // The callback gets the error, too, but without a listener it would be thrown.
    process.stdout.once('error', (error) => resolve(error.message));
    process.stdout.write(octets, (error) => resolve(error?.message ?? null));
  });
}

function complain(reason: string): number {
  processTerminal.complain(`tagcast fetch: ${reason}`);
  return EXIT_FAILED;
}

type Fetched =
  | { readonly ok: true; readonly status: number; readonly body: Buffer }
  | { readonly ok: false; readonly reason: string };

async function fetchOnce({ url, form, ca, isInsecure }: Arguments): Promise<Fetched> {
  let freed: () => void = () => undefined;
  let ended: (reason: string) => void = () => undefined;
  let brokenOff: (reason: string) => void = () => undefined;
  let goodbye = '';
  const connected = await connect(
    url,
    { ...LIMITS, ca, isInsecure },
    {
      freed: () => freed(),
      draining: (reason, code) => {
        goodbye = reason;
        // Before the request is sent, this is the end; after it, the answer may still come.
        ended(reason);
        if (code === ErrorCode.NO_ERROR) return;
        setTimeout(() => brokenOff(reason), ERROR_PATIENCE_MS).unref();
      },
      closed: (reason) => ended(reason),
    },
  );
  if (!connected.ok) return connected;
  const { connection } = connected;
  const fetched = await new Promise<Fetched>((resolve) => {
    let isSent = false;
    // The server may allow no stream at first. After a GOAWAY it never will.
    freed = () => {
      if (isSent || connection.capacity === 0) return;
      isSent = true;
      request(connection, form, resolve);
    };
    ended = (reason) => {
      if (!isSent) resolve({ ok: false, reason });
    };
    brokenOff = (reason) => resolve({ ok: false, reason });
    if (connection.isClosed) ended('closed by the peer');
    // It may have come with the server's first words.
    else if (goodbye !== '') ended(goodbye);
    freed();
    setTimeout(ended, LIMITS.requestTimeoutMs, 'no stream was free in time').unref();
  });
  if (fetched.ok) connection.drain();
  else connection.destroy(fetched.reason);
  if (fetched.ok || goodbye === '' || fetched.reason === goodbye) return fetched;
  return { ok: false, reason: `${fetched.reason}, after ${goodbye}` };
}

function request(
  connection: ClientConnection,
  form: RequestForm,
  resolve: (fetched: Fetched) => void,
): void {
  connection.send(connection.prepare(form), '', {
    answered: ({ status, body, isTruncated }: Response) =>
      resolve(
        isTruncated
          ? { ok: false, reason: `the body is longer than ${LIMITS.bodyOctetsMax} octets` }
          : { ok: true, status, body: Buffer.from(body) },
      ),
    failed: ({ reason }) => resolve({ ok: false, reason }),
  });
}

const PROTOCOL = /^https?:$/;
/** A token, and octets without control characters (RFC 9110, 5.5, 5.6.2): HPACK carries Latin-1. */
const FIELD_LINE = /^([!#$%&'*+\-.^_`|~\w]+):\s*([\t\x20-\x7e\x80-\xff]*?)\s*$/;

async function readArguments(
  text: string,
  values: {
    readonly data?: string | undefined;
    readonly header?: readonly string[] | undefined;
    readonly 'ca-file'?: string | undefined;
    readonly insecure?: boolean | undefined;
  },
): Promise<Arguments> {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !PROTOCOL.test(url.protocol)) {
    throw new UsageError('one https: or http: URL is needed; --help says more');
  }
  const form: RequestForm = {
    method: values.data === undefined ? 'GET' : 'POST',
    scheme: url.protocol === 'https:' ? 'https' : 'http',
    authority: url.host,
    valueIn: 'path',
    path: url.pathname + url.search,
    fields: (values.header ?? []).map(readField),
    contentBefore: Buffer.from(values.data ?? ''),
    contentAfter: Buffer.alloc(0),
  };
  const caFile = values['ca-file'];
  const ca = caFile === undefined ? null : await readCertificates(caFile);
  return { url, form, ca, isInsecure: values.insecure ?? false };
}

async function readCertificates(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--ca-file: cannot read ${path}`, { cause: error });
  }
}

function readField(line: string): RequestForm['fields'][number] {
  const [, name, value] = FIELD_LINE.exec(line) ?? [];
  if (name === undefined || value === undefined) {
    throw new UsageError(`--header '${line}' is not a valid header field`);
  }
  return { name: name.toLowerCase(), value, indexing: 'without' };
}
