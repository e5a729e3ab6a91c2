/** Something that happens now and then, and those who want to hear of it. */
export class Signal {
  /** Not a Set: many come and go here, and its old tables would keep them (decision 35). */
  private listeners: readonly (() => void)[] = [];

  /** Calls `listener` every time from now on; the answer ends that. */
  on(listener: () => void): () => void {
    this.listeners = [...this.listeners, listener];
    return () => {
      this.listeners = this.listeners.filter((other) => other !== listener);
    };
  }

  fire(): void {
    for (const listener of this.listeners) listener();
  }
}
