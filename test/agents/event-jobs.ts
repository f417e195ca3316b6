import { onTestFinished } from 'vitest'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { place } from './process-place.ts'

/** A worker that creates jobs, at a real runtime of processes. */

const JOBS = gql(`query LeavingJobs($id: ID!) { object(id: $id) {
  phase ... on Event { worker { phase error { code message } children(first: 20) { edges { node {
    name phase error { code message } ... on Job { artifacts { edges { node { id name size } } } }
  } } } } }
} }`)

/** A worker that creates these jobs, each when the one before has ended. */
const WORKER = `
const [url, token] = [process.env.PHASELINE_URL, process.env.PHASELINE_TOKEN]
const call = async (query, variables) => {
  for (;;) {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) }).catch(() => null)
    const body = await answer?.json().catch(() => null)
    if (body?.data) return Object.values(body.data)[0]
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
for (const [name, spec] of JSON.parse(process.env.JOBS)) {
  const made = await call('mutation($input: CreateJobInput!) { createJob(input: $input) { ... on Job { id } ... on Error { message } } }', { input: { name, spec } })
  if (!made.id) throw new Error(made.message)
  while (!(await call('query($id: ID!) { object(id: $id) { finished } }', { id: made.id })).finished) await new Promise((resolve) => setTimeout(resolve, 100))
}`

export type Job = readonly [name: string, spec: object]
export const sh = (script: string, more: object = {}): object => ({ command: ['sh', '-c', script], ...more })

export async function world(env: Readonly<Record<string, string>> = {}) {
  const server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine', ...env } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const at = await place()
  onTestFinished(() => at[Symbol.asyncDispose]())
  return { server, state: at.state, secret: await runtimeToken(server) }
}
export const runtimeToken = async ({ client }: ReachableServer): Promise<string> =>
  (
    await ask(client, MUTATIONS.createToken, {
      ...{ name: 'runtimes', role: 'AGENT', actor: 'RUNTIME', types: ['process'] },
    })
  ).secret

export const startRuntime = (url: string, secret: string, state: string) =>
  startAgentProcess({
    ...{ types: ['process'], url, token: new Secret(secret), state, graceMs: 300, leaseMs: 8_000 },
    options: { isolation: 'trusted' },
  })

export async function addEvent({ client }: ReachableServer, jobs: readonly Job[]): Promise<string> {
  await ask(client, MUTATIONS.createProject, {
    name: 'shop',
    workerTemplate: {
      command: [process.execPath, '--input-type=module', '-e', WORKER],
      env: [{ name: 'JOBS', value: JSON.stringify(jobs) }],
    },
  }).catch(() => null)
  const { events } = await ask(client, MUTATIONS.createEvent, { project: 'shop', source: 'test', type: 'push' })
  return present(events[0]).id
}

async function jobsOf({ client }: ReachableServer, id: string) {
  const { object } = await client.query(JOBS, { id })
  const { worker = null } = (object ?? {}) as { worker?: { children: { edges: { node: unknown }[] } } | null }
  type Node = {
    name: string
    phase: string
    error: { code: string; message: string } | null
    artifacts: { edges: { node: { id: string; name: string; size: number } }[] }
  }
  const nodes = (worker?.children.edges ?? []).map(({ node }) => node as Node)
  return { phase: object?.phase, jobs: new Map(nodes.map((node) => [node.name, node])) }
}
export const untilOver = async (server: ReachableServer, id: string) => {
  await until(async () => ['SUCCEEDED', 'FAILED'].includes((await jobsOf(server, id)).phase ?? ''), {
    what: 'it has ended',
  })
  return (await jobsOf(server, id)).jobs
}
