import type { Client } from './client.ts'

/** Writes of what belongs to no tree and to no project, such as principals and places. */
export interface Records {
  /**
   * Runs in a transaction, after the other writes of this process on the same subject. Whoever waits for what another transaction
   * has locked holds no connection, and is refused in the end. The work may run twice.
   * @param subject what it writes, for those who wait in vain, e.g. `The principal 0190…`
   * @throws Busy
   */
  inRecord<T>(subject: string, work: (client: Client) => Promise<T>): Promise<T>
}
