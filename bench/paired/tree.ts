import { join } from 'node:path'
import { median, startServer } from '../harness.ts'
import type * as trees from '../trees.ts'
import { SIZES, warmUp } from '../workloads/tree.ts'
import type { Measure } from './turn.ts'

export const measure: Measure = async ({ checkout, env, freshDatabase }) => {
  const { runTrees } = (await import(join(checkout, 'bench/trees.ts'))) as typeof trees
  await using server = await startServer({ checkout, env, databaseUrl: await freshDatabase() })
  const run = async (trees: number, items: number): Promise<number> => (await runTrees(server.client, trees, items)).ms
  await warmUp(run)
  const figures: Record<string, number> = {}
  for (const { trees, items, repeats } of SIZES) {
    const times: number[] = []
    for (let n = 0; n < repeats; n++) times.push(await run(trees, items))
    figures[`${trees} × ${items.toLocaleString('en-US')}, ms`] = median(times)
  }
  return figures
}
