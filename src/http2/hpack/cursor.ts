/**
 * A place in a field block that is being read: every part of the decoder moves the same one
 * forward.
 */
export interface Cursor {
  readonly bytes: Buffer;
  readonly end: number;
  offset: number;
}
