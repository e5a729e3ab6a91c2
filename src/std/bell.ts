/** A bell that one loop waits for. A ring while it does not wait is kept for its next wait. */
export class Bell {
  private rung = false;
  private answer: (() => void) | null = null;

  ring(): void {
    if (this.answer === null) this.rung = true;
    else this.answer();
  }

  /** Resolves at the next ring, or after `timeoutMs`. One waiter at a time. */
  wait(timeoutMs: number): Promise<void> {
    if (this.rung) {
      this.rung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.answer = null;
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      this.answer = finish;
    });
  }
}
