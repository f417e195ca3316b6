import { randomUUID } from 'node:crypto'
import { CREATE_TOKEN } from '../cli/tokens/api.ts'
import { type Client, createClient, runAgent, type WorkItem } from '../client/index.ts'
import type { PlayedAgent, TestServer } from './api.ts'

type Play = Parameters<TestServer['play']>

interface PlayParts {
  readonly client: Client
  readonly url: string
  /** Types of work that agents claim now. */
  readonly types: string[]
}

/** Runs an agent of one type until it is disposed. */
export async function play(
  { client: administrator, url, types }: PlayParts,
  [type, answer = () => undefined, { actor = 'DEPLOYER' } = {}]: Play,
): Promise<PlayedAgent> {
  const name = `played ${type}`
  const input = { name, role: 'AGENT', actor, types: [type] } as const
  const { answer: created } = await administrator.query(CREATE_TOKEN, { input })
  if (created?.__typename !== 'CreatedToken') throw new Error(`${name} got no token: ${created?.message}`)
  const items: WorkItem[] = []
  const stop = new AbortController()
  const client = createClient({ url, token: created.secret })
  const running = runAgent({
    ...{ client, instance: randomUUID(), types: [type], signal: stop.signal, drainMs: 0 },
    async work(item, context) {
      items.push(item)
      const given = await answer(item, context)
      if (given === undefined) return { phase: item.action === 'DELETE' ? 'GONE' : 'SUCCEEDED' }
      return typeof given === 'string' ? { phase: given } : given
    },
  })
  types.push(type)
  // It is thrown where the agent ends.
  running.catch(() => undefined)
  return {
    items,
    async [Symbol.asyncDispose]() {
      if (!stop.signal.aborted) types.splice(types.indexOf(type), 1)
      stop.abort()
      await running.finally(() => client.close())
    },
  }
}
