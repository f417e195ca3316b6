import type { Client } from './client.ts'

/** Writes of what belongs to no tree and to no project, such as principals and places. */
export interface Records {
  /**
   * Runs in a transaction, after the other writes of this process on the same subject. A call that waits for another
   * transaction's lock holds no connection, and is refused after a while. The work may run twice.
   * @param subject what it writes, for the refusal, e.g. `The principal 0190…`
   * @throws Busy
   */
  inRecord<T>(subject: string, work: (client: Client) => Promise<T>): Promise<T>
}
