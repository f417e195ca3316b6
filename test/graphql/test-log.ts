import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Log, PhaseChangeRecord } from '../../src/core/ports.ts'
import { readHead } from '../../src/log/head.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { countChanges, readPage } from '../../src/log/page.ts'

export async function createTestLog(pool: Pool, _logger: unknown) {
  const number = async () => {
    while ((await numberBatches(pool)) !== null) {}
  }
  const log: Log = {
    head: async () => (await readHead(pool)).head,
    page: async () => [] as readonly PhaseChangeRecord[],
    count: (query) => countChanges(pool, query),
    async *follow(_query, _after, _max, signal) {
      while (!signal.aborted) await delay(50)
    },
    committed() {},
  }
  void readPage
  return { log, number, async [Symbol.asyncDispose]() {} }
}
