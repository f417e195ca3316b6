import { createClient, runAgent } from '../../src/client/index.ts'
import { type Peer, type PeerOptions, servePeer } from '../harness-peer.ts'
import { createTree } from '../trees.ts'

/** A creator and an agent of the published client, as users write them; the server is a process of its own. */

const TYPE = 'bench'
const CREATE_TOKEN = `mutation ($input: CreateTokenInput!) {
  createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } }
}`

await servePeer(open)

/** @param url of GraphQL, with the administrator's token as its fragment */
async function open({ url }: PeerOptions): Promise<Peer> {
  const { hash, origin, pathname } = new URL(url)
  const endpoint = `${origin}${pathname}`
  const client = createClient({ url: endpoint, token: hash.slice(1) })
  const { createToken } = await client.query<{ createToken: { secret?: string; message?: string } }>(CREATE_TOKEN, {
    input: { name: 'bench', role: 'AGENT', types: [TYPE] },
  })
  if (!createToken.secret) throw new Error(createToken.message)
  const agentClient = createClient({ url: endpoint, token: createToken.secret })
  const ended = new AbortController()
  let started: () => void = () => {}
  const agent = runAgent({
    client: agentClient,
    instance: 'bench',
    types: [TYPE],
    signal: ended.signal,
    work() {
      started()
      return { phase: 'SUCCEEDED' }
    },
  })
  let made = 0
  return {
    runTrees: () => Promise.reject(new Error('trees have the built-in agent')),
    async createItem(onStart) {
      started = onStart
      made += 1
      await createTree(client, `latency-${made}`, 1, TYPE)
    },
    async [Symbol.asyncDispose]() {
      ended.abort()
      await agent
      await agentClient.close()
      await client.close()
    },
  }
}
