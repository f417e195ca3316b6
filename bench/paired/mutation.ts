import { startServer } from '../harness.ts'
import { CLIENTS, load, overHttp } from '../workloads/mutation.ts'
import type { Figures, Measure, Turn } from './turn.ts'

export const measure: Measure = async (turn) => ({
  ...(await measureServer(turn, 'gateway', ['gateway'])),
  ...(await measureServer(turn, 'gateway and engine', ['gateway', 'engine'])),
})

async function measureServer(
  { checkout, env, freshDatabase }: Turn,
  name: string,
  roles: readonly ('gateway' | 'engine')[],
): Promise<Figures> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startServer({ checkout, env, databaseUrl: await freshDatabase(), roles }))
  const create = overHttp(stack, server)
  for (const clients of CLIENTS) await load(create, clients)
  const figures: Record<string, number> = {}
  for (const clients of CLIENTS) figures[`${name}, ${clients} at a time, /s`] = await load(create, clients)
  return figures
}
