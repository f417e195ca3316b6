import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAgentProcess } from '../src/agents/spawn.ts'
import { Secret } from '../src/core/secret.ts'
import { engineSocket, IMAGE, provideImage } from '../test/testkit/container-engine.ts'
import type { BenchServer } from './server.ts'

export interface ContainerEngine {
  readonly socket: string
  readonly image: string
}

/** Null: there is none here, or PHASELINE_TEST_ENGINE does not name it. */
export async function findEngine(): Promise<ContainerEngine | null> {
  const socket = engineSocket()
  if (socket === null) return null
  await provideImage(socket)
  return { socket, image: IMAGE }
}

const CREATE_TOKEN = `mutation ($input: CreateTokenInput!) {
  answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } }
}`

/** The container runtime as a process beside the server. */
export async function startContainerAgent({ client, origin }: BenchServer, { socket }: ContainerEngine) {
  const state = await mkdtemp(join(tmpdir(), 'phaseline-bench-'))
  const input = { name: 'containers', role: 'AGENT', actor: 'RUNTIME', types: ['container'] }
  const { answer } = await client.query<{ answer: { secret: string } }>(CREATE_TOKEN, { input })
  const agent = startAgentProcess({
    types: ['container'],
    url: `${origin}/graphql`,
    token: new Secret(answer.secret),
    state,
    options: { engine: `unix://${socket}`, network: 'none' },
  })
  return {
    async [Symbol.asyncDispose]() {
      await agent.close()
      await rm(state, { recursive: true })
    },
  }
}
