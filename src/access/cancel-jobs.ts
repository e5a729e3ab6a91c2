/** Where a right to submit push jobs is taken away, the jobs may be cancelled along with it. */

export type CancelJobs = (clientId: number, userName: string) => Promise<void>;

/** The detail of the audit entry: whether jobs were cancelled along with the right. */
export const cancelDetail = ({ cancelJobs }: { readonly cancelJobs: boolean }) =>
  cancelJobs ? { detail: { cancelJobs } } : {};
