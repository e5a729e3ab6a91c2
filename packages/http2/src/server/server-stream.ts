/** A stream as the server sees it: a request on its way in, or one that waits for its response. */

import type { RequestHead } from '../message/request.ts';
import { Stream } from '../stream/stream.ts';

export class ServerStream extends Stream {
  head: RequestHead | null = null;
  /** The whole request has arrived. */
  isRequested = false;

  override open(id: number, sendWindow: number): void {
    super.open(id, sendWindow);
    this.head = null;
    this.isRequested = false;
  }
}
