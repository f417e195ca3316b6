import { createClient } from '../../src/client/index.ts'
import { type Peer, type PeerOptions, Roots, servePeer } from '../harness-peer.ts'

/** Creates events and watches them live, as a dashboard does; server and runtime are processes of their own. */

const PROJECT = 'bench'
const CREATE_PROJECT = `mutation ($input: CreateProjectInput!) {
  answer: createProject(input: $input) { __typename ... on Error { message } }
}`
const CREATE_EVENT = `mutation ($input: CreateEventInput!) {
  answer: createEvent(input: $input) { __typename ... on CreatedEvents { events { id } } ... on Error { message } }
}`
const CALLS_AT_ONCE = 16

interface Answer {
  readonly answer: { readonly message?: string; readonly events?: readonly { readonly id: string }[] }
}

await servePeer(open)

/** @param url of GraphQL, with the administrator's token as its fragment, and runtime, image and command in its query */
async function open({ url }: PeerOptions): Promise<Peer> {
  const { hash, origin, pathname, searchParams } = new URL(url)
  const client = createClient({ url: `${origin}${pathname}`, token: hash.slice(1), timeoutMs: 300_000 })
  const ask = async (document: string, input: object): Promise<void> => {
    const { answer } = await client.query<Answer>(document, { input })
    if (answer.message !== undefined) throw new Error(answer.message)
  }
  const runsOn = { runtime: searchParams.get('runtime') ?? 'process', image: searchParams.get('image') }
  const project = `${PROJECT}-${runsOn.runtime}`
  const input = { project, source: 'bench', type: 'no-op' }
  const command = searchParams.getAll('command')
  const workerTemplate = { command: command.length > 0 ? command : ['true'], ...runsOn }
  await ask(CREATE_PROJECT, { name: project, workerTemplate })
  let roots = new Roots(0)
  let started: () => void = () => {}
  const ended = new AbortController()
  const filter = { project, kinds: ['EVENT' as const], to: ['RUNNING' as const, 'SUCCEEDED' as const] }
  const batches = client.followPhases({ filter, after: 0, signal: ended.signal })
  const watching = (async () => {
    for await (const { changes } of batches) {
      for (const { to } of changes) {
        if (to === 'RUNNING') started()
        else roots.ended()
      }
    }
  })()
  return {
    async runTrees(count) {
      roots = new Roots(count)
      let left = count
      const create = async (): Promise<void> => {
        while (left-- > 0) await ask(CREATE_EVENT, input)
      }
      await Promise.all(Array.from({ length: CALLS_AT_ONCE }, create))
      await roots.allEnded
    },
    async createItem(onStart) {
      started = onStart
      await ask(CREATE_EVENT, input)
    },
    async [Symbol.asyncDispose]() {
      ended.abort()
      await watching
      await client.close()
    },
  }
}
