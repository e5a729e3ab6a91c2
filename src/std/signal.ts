/** An event that happens now and then, and its listeners. */
export class Signal {
  /** Not a Set: many listeners come and go, and its old tables would keep them (decision 35). */
  private listeners: readonly (() => void)[] = [];

  /** Calls `listener` every time from now on; the function that it answers ends that. */
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
