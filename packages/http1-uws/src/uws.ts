/** The part of uWebSockets.js that this package uses. Its own types are in no package. */

/**
 * An answer to write, or a connection. The one that `filter` gets is valid from the open of a
 * connection to its close; the one of a request until its answer is complete.
 */
export interface UwsResponse {
  writeStatus(status: string | Uint8Array): UwsResponse;
  write(piece: string | Uint8Array): boolean;
  end(body?: string | Uint8Array, closes?: boolean): UwsResponse;
  endWithoutBody(): UwsResponse;
  tryEnd(body: string | Uint8Array, total: number): [isTaken: boolean, isDone: boolean];
  close(): UwsResponse;
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  pause(): void;
  resume(): void;
  getRemoteAddressAsText(): ArrayBuffer;
  /** Absent before 20.52. */
  getRemotePort?(): number;
  cork(write: () => void): UwsResponse;
}

/** Valid until its handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  /** The path, without the query. */
  getUrl(): string;
  getQuery(): string | undefined;
  /** Calls `take` with every header line, its name in lower case. */
  forEach(take: (name: string, value: string) => void): void;
}

export interface UwsApp {
  any(pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void): UwsApp;
  /** `count`: 1 when a connection opens, -1 when it closes. */
  filter(handler: (res: UwsResponse, count: number) => void): UwsApp;
  listen(host: string, port: number, take: (socket: object | false) => void): UwsApp;
}

export interface Uws {
  App(): UwsApp;
  SSLApp(options: { readonly key_file_name: string; readonly cert_file_name: string }): UwsApp;
  us_listen_socket_close(socket: object): void;
  us_socket_local_port(socket: object): number;
  _cfg(option: string): void;
}
