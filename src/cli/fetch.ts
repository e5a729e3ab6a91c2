/**
 * `tagcast fetch`: fetches one URL with our own HTTP/2 client, to try it on any server and for use
 * by conformance suites.
 */

import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { ClientConnection } from '../http2/client/client-connection.ts';
import type { Response } from '../http2/client/client-stream.ts';
import { connect } from '../http2/client/connect.ts';
import type { RequestForm } from '../http2/client/request-form.ts';
import { ErrorCode } from '../http2/error.ts';
import type { Command } from './command.ts';

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

/**
 * A server that sends GOAWAY with an error closes the connection (RFC 9113, 5.4.1). The command
 * waits for that no longer than this.
 */
const ERROR_PATIENCE_MS = 500;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const USAGE = `Usage: tagcast fetch [flags] <url>

Sends one request with our own HTTP/2 client: https with ALPN h2, http in clear text with prior knowledge. Prints the
status, an empty line and the body; errors go to standard error. Exit code 0: a complete answer, whatever its status;
1: no complete answer, or the server broke the protocol; 2: wrong arguments.

  --data <text>           send this as POST; without it the request is a GET
  --header <name: value>  another header field; may be repeated
  --ca-file <file>        PEM certificates to trust besides the system's
  --insecure              accept any certificate
  --help                  this text
`;

interface Arguments {
  readonly url: URL;
  readonly form: RequestForm;
  readonly caFile: string | undefined;
  readonly isInsecure: boolean;
}

export const fetchCommand: Command = {
  usage: USAGE,
  run: async (args) => {
    const read = readArguments(args);
    if (read === 'help') {
      process.stdout.write(USAGE);
      return 0;
    }
    if (typeof read === 'string') return complain(read, EXIT_USAGE);
    const result = await fetchOnce(read);
    if (!result.ok) return complain(result.reason, EXIT_FAILED);
    const head = Buffer.from(`${result.status}\n\n`);
    const fault = await print(Buffer.concat([head, result.body]));
    return fault === null ? 0 : complain(`standard output: ${fault}`, EXIT_FAILED);
  },
};

/** Resolves when all is written: with null, or with the error when the reader has gone. */
function print(octets: Buffer): Promise<string | null> {
  return new Promise((resolve) => {
    // The callback gets the error, too, but without a listener it would be thrown.
    process.stdout.once('error', (error) => resolve(error.message));
    process.stdout.write(octets, (error) => resolve(error?.message ?? null));
  });
}

function complain(reason: string, exitCode: number): number {
  process.stderr.write(`tagcast fetch: ${reason}\n`);
  return exitCode;
}

type Fetched =
  | { readonly ok: true; readonly status: number; readonly body: Buffer }
  | { readonly ok: false; readonly reason: string };

async function fetchOnce({ url, form, caFile, isInsecure }: Arguments): Promise<Fetched> {
  let ca: string | null;
  try {
    ca = caFile === undefined ? null : await readFile(caFile, 'utf8');
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
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
        if (code !== ErrorCode.NO_ERROR) setTimeout(brokenOff, ERROR_PATIENCE_MS, reason).unref();
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
/**
 * A token, and octets without control characters (RFC 9110, 5.5 and 5.6.2): HPACK carries Latin-1.
 */
const FIELD_LINE = /^([!#$%&'*+\-.^_`|~\w]+):\s*([\t\x20-\x7e\x80-\xff]*?)\s*$/;

/** The arguments, `help`, or the fault of the arguments. */
function readArguments(args: readonly string[]): Arguments | 'help' | string {
  let parsed: ReturnType<typeof parseFlags>;
  try {
    parsed = parseFlags(args);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { values, positionals } = parsed;
  if (values.help) return 'help';
  const [text = ''] = positionals;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (positionals.length !== 1 || url === null || !PROTOCOL.test(url.protocol)) {
    return 'one https: or http: URL is needed; --help says more';
  }
  const fields: RequestForm['fields'][number][] = [];
  for (const line of values.header ?? []) {
    const [, name, value] = FIELD_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined)
      return `--header '${line}' is not a valid header field`;
    fields.push({ name: name.toLowerCase(), value, indexing: 'without' });
  }
  const form: RequestForm = {
    method: values.data === undefined ? 'GET' : 'POST',
    scheme: url.protocol === 'https:' ? 'https' : 'http',
    authority: url.host,
    valueIn: 'path',
    path: url.pathname + url.search,
    fields,
    contentBefore: Buffer.from(values.data ?? ''),
    contentAfter: Buffer.alloc(0),
  };
  return { url, form, caFile: values['ca-file'], isInsecure: values.insecure ?? false };
}

const parseFlags = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      data: { type: 'string' },
      header: { type: 'string', multiple: true },
      'ca-file': { type: 'string' },
      insecure: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
