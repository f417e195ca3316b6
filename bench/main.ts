import { startServer } from './server.ts'
import { runTrees } from './trees.ts'

/** `npm run bench [-- name …]`: prints Markdown. Nothing is asserted here; the numbers are of this machine, now. */
const WORKLOADS: Readonly<Record<string, () => Promise<void>>> = { tree, scale }
const ROUNDS = 3
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
const print = (...lines: string[]): boolean => process.stdout.write(`${lines.join('\n')}\n`)

/** 20 trees of 1 + 200 no-op items at once, through the public API with the built-in mock deployer. */
async function tree(): Promise<void> {
  await using server = await startServer()
  await runTrees(server.client, 20, 50)
  print(
    '## tree: 20 trees of 1 + 200 mock items at once',
    '',
    '| round | ms | nodes/s | SQL statements per 100 items |',
    '|---|---|---|---|',
  )
  const rates: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const before = await server.read()
    const { nodes, ms } = await runTrees(server.client, 20, 200)
    const { statements } = await server.read()
    rates.push((nodes / ms) * 1_000)
    const per100 = ((statements - before.statements) / 4_000) * 100
    print(`| ${round} | ${ms.toFixed(0)} | ${((nodes / ms) * 1_000).toFixed(0)} | ${per100.toFixed(1)} |`)
  }
  print('', `Median: ${median(rates).toFixed(0)} nodes/s.`, '')
}

/** What one item costs in a tree of 1,000 and in one of 10,000, and what reading the large one costs. */
async function scale(): Promise<void> {
  await using server = await startServer()
  await runTrees(server.client, 1, 1_000)
  print('## scale: cost per item', '', '| items | ms | ms per item | server RSS MB |', '|---|---|---|---|')
  const costs = new Map<number, number>()
  let large = ''
  for (const items of [1_000, 10_000]) {
    const runs: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { ms, ids } = await runTrees(server.client, 1, items)
      runs.push(ms)
      large = ids[0] ?? ''
    }
    const ms = median(runs)
    const { rss } = await server.read()
    costs.set(items, ms / items)
    print(`| ${items} | ${ms.toFixed(0)} | ${(ms / items).toFixed(3)} | ${(rss / 2 ** 20).toFixed(0)} |`)
  }
  const ratio = (costs.get(10_000) ?? 0) / (costs.get(1_000) ?? 1)
  print('', `An item of 10,000 costs ${ratio.toFixed(2)} times an item of 1,000.`, '')

  const before = await server.read()
  const since = performance.now()
  const { tree: read } = await server.client.query<{ tree: { objects: { edges: unknown[] } } }>(
    `query ($id: ID!) { tree(rootId: $id) { sequence
      objects(first: 5000) { totalCount edges { node { id name kind phase parent { id } } } }
      relations(first: 5000) { edges { node { from to kind } } } } }`,
    { id: large },
  )
  const ms = performance.now() - since
  const after = await server.read()
  print(
    `tree(rootId) of 10,000 items, ${read.objects.edges.length} objects: ${after.statements - before.statements} SQL statements of the whole server meanwhile, ${ms.toFixed(0)} ms.`,
  )
}

const asked = process.argv.slice(2)
for (const name of asked.length > 0 ? asked : Object.keys(WORKLOADS)) {
  const workload = WORKLOADS[name]
  if (!workload) throw new Error(`there is no workload ${name}: ${Object.keys(WORKLOADS).join(', ')}`)
  await workload()
}
