/** Something that happens now and then, and those who want to hear of it. */
export class Signal {
  private readonly listeners = new Set<() => void>();

  /** Calls `listener` every time from now on; the answer ends that. */
  on(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  fire(): void {
    for (const listener of this.listeners) listener();
  }
}
