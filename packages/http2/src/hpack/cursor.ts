/**
 * A place in a field block that is being read: all parts of the decoder move the same one forward.
 */
export interface Cursor {
  readonly bytes: Buffer;
  readonly end: number;
  offset: number;
}
