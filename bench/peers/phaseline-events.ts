import { createClient } from '../../src/client/index.ts'
import { atOnce } from '../at-once.ts'
import { type Peer, type PeerOptions, servePeer } from '../harness-peer.ts'

/** Creates events and watches them live, as a dashboard does; server and runtime are processes of their own. */

const PROJECT = 'bench'
const CREATE_PROJECT = `mutation ($input: CreateProjectInput!) {
  answer: createProject(input: $input) { __typename ... on Error { message } }
}`
const CREATE_EVENT = `mutation ($input: CreateEventInput!) {
  answer: createEvent(input: $input) { __typename ... on CreatedEvents { events { id } } ... on Error { message } }
}`

interface Answer {
  readonly answer: { readonly message?: string; readonly events?: readonly { readonly id: string }[] }
}

await servePeer(open)

/** @param url of GraphQL, with the administrator's token as its fragment, and runtime, image and command in its query */
async function open({ url }: PeerOptions): Promise<Peer> {
  const { hash, origin, pathname, searchParams } = new URL(url)
  const client = createClient({ url: `${origin}${pathname}`, token: hash.slice(1), timeoutMs: 300_000 })
  const ask = async (document: string, input: object): Promise<string> => {
    const { answer } = await client.query<Answer>(document, { input })
    if (answer.message !== undefined) throw new Error(answer.message)
    return answer.events?.[0]?.id ?? ''
  }
  const runsOn = { runtime: searchParams.get('runtime') ?? 'process', image: searchParams.get('image') }
  const project = `${PROJECT}-${runsOn.runtime}`
  const input = { project, source: 'bench', type: 'no-op' }
  const command = searchParams.getAll('command')
  const workerTemplate = { command: command.length > 0 ? command : ['true'], ...runsOn }
  await ask(CREATE_PROJECT, { name: project, workerTemplate })
  /** By the id of its event. */
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const endOf = (id: string): PromiseWithResolvers<void> => {
    const end = ends.get(id) ?? Promise.withResolvers<void>()
    ends.set(id, end)
    return end
  }
  let started: () => void = () => {}
  const ended = new AbortController()
  const filter = { project, kinds: ['EVENT' as const], to: ['RUNNING' as const, 'SUCCEEDED' as const] }
  const batches = client.followPhases({ filter, after: 0, signal: ended.signal })
  const watching = (async () => {
    for await (const { changes } of batches) {
      for (const { to, objectId } of changes) {
        if (to === 'RUNNING') started()
        else endOf(objectId).resolve()
      }
    }
  })()
  return {
    runTrees: (count, width) =>
      atOnce(count, width, async () => {
        const id = await ask(CREATE_EVENT, input)
        await endOf(id).promise
        ends.delete(id)
      }),
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
