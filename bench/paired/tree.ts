import { join } from 'node:path'
import { median, startServer } from '../harness.ts'
import { writtenTo } from '../postgres.ts'
import type * as trees from '../trees.ts'
import { SIZES, warmUp } from '../workloads/tree.ts'
import type { Measure } from './turn.ts'

export const measure: Measure = async ({ checkout, env, freshDatabase }) => {
  const { runTrees } = (await import(join(checkout, 'bench/trees.ts'))) as typeof trees
  const databaseUrl = await freshDatabase()
  await using server = await startServer({ checkout, env, databaseUrl })
  const run = async (trees: number, items: number): Promise<number> => (await runTrees(server.client, trees, items)).ms
  await warmUp(run)
  const figures: Record<string, number> = {}
  for (const { trees, items, repeats } of SIZES) {
    const size = `${trees} × ${items.toLocaleString('en-US')}`
    const nodes = repeats * trees * (items + 1)
    const times: number[] = []
    const [{ cpuMs }, { wal }] = await Promise.all([server.read(), writtenTo(databaseUrl)])
    for (let n = 0; n < repeats; n++) times.push(await run(trees, items))
    const [read, written] = await Promise.all([server.read(), writtenTo(databaseUrl)])
    figures[`${size}, ms`] = median(times)
    figures[`${size}, CPU of the server, µs a node`] = ((read.cpuMs - cpuMs) * 1_000) / nodes
    figures[`${size}, WAL, bytes a node`] = (written.wal - wal) / nodes
  }
  return figures
}
