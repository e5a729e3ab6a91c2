/** The entry of a server: takes its task from the bench, and reports the port. */

/** `start` resolves with the server's URL; its error ends the process. */
export function serveTask<Task>(start: (task: Task) => Promise<string>): void {
  process.once('message', ({ task }: { readonly task: Task }) => {
    start(task).then(
      (url) => process.send?.(Number(new URL(url).port)),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}
