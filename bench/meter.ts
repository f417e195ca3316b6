import { cpuOfTree, postmasterOf } from './cpu.ts'
import { writtenTo } from './postgres.ts'
import type { BenchServer } from './server.ts'

/** While something ran: of a server with all that it has started, and of its Postgres. */
export interface Spent {
  /** Milliseconds of processor time. */
  readonly spentMs: number
  /** Bytes. */
  readonly walBytes: number
}

/** The meter also counts what others ask of the same Postgres meanwhile. */
export async function openMeter(
  server: BenchServer,
  databaseUrl: string,
): Promise<<T extends object>(run: () => Promise<T>) => Promise<T & Spent>> {
  const postmaster = await postmasterOf(databaseUrl)
  const cpu = (): number => cpuOfTree(server.pid) + cpuOfTree(postmaster)
  return async (run) => {
    const { wal } = await writtenTo(databaseUrl)
    const before = cpu()
    const result = await run()
    const spentMs = cpu() - before
    return { ...result, spentMs, walBytes: (await writtenTo(databaseUrl)).wal - wal }
  }
}
