import { afterAll, beforeAll, expect, test } from 'vitest'
import { numberBatches } from '../../src/log/number-batches.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { playSituations } from '../graphql/situations.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { INCIDENTS, type Truth } from './incidents.ts'
import { openTools, type Tools } from './mcp-client.ts'

/**
 * A client without a model finds the root cause of incidents: it asks for the health of a project, and why of what that names. It gets
 * fewer bytes than one that asks the API itself, with the documents that the documentation shows.
 */

let api: Api
let tools: Tools
let places: Awaited<ReturnType<typeof playSituations>>
beforeAll(async () => {
  api = await createApi()
  places = await playSituations(api, INCIDENTS)
  while ((await numberBatches(api.world.pool)) !== null);
  const { url } = await api.serve()
  tools = await openTools(url, await api.token({ name: 'reader', role: 'READER' }))
})
afterAll(async () => {
  await tools[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

interface Health {
  readonly causes: readonly { readonly cause: Truth['cause']; readonly object?: string; readonly subject: string }[]
}
interface Why {
  readonly id: string
  readonly cause?: { readonly code: string; readonly object: string }
  readonly waits: readonly { readonly reason: string; readonly object?: string }[]
}
const PATH = gql('query ($id: ID!) { object(id: $id) { path } }')

async function diagnose(project: string): Promise<{ readonly found: Truth | null; readonly bytes: number }> {
  const health = await tools.call('health', { project, limit: 1 })
  const [first] = (health.data as unknown as Health).causes
  if (!first) return { found: null, bytes: health.bytes }
  const { cause, subject } = first
  if (!first.object) return { found: { cause, code: cause, at: subject }, bytes: health.bytes }
  const why = await tools.call('why', { object: first.object })
  const { id, cause: failure, waits } = why.data as unknown as Why
  // An object that waits may still have the error of an earlier operation.
  const isFailure = cause === 'FAILED' || cause === 'DECISION'
  const [wait] = waits
  const told = (isFailure && failure) || (wait && { code: wait.reason, ...wait }) || failure
  const { object } = await api.query(PATH, { id: told?.object ?? id })
  return {
    found: { cause, code: told?.code ?? cause, at: present(object).path },
    bytes: health.bytes + why.bytes,
  }
}

/** As README, docs/health.md and docs/operations.md show them. */
const PLAIN = gql(`query ($project: String!) {
  health(project: $project) {
    verdict causeCount isComplete at causes { cause severity since project subject object { id path } count message action command page }
  }
  unfinished: objects(filter: { project: $project, finished: false }) { edges { node {
    id kind name path phase phaseSince blockedBy { reason message source { id path } } deadlines { name expiresAt to message }
  } } }
  failed: objects(filter: { project: $project, failed: true }) { edges { node {
    id kind name path phase phaseSince error { code message at causes { objectId kind name code message } }
  } } }
  output(filter: { project: $project }, last: 20) { edges { node { at stream text object { path } } } }
}`)

test('the root cause of fifty incidents is found, in at most half the bytes', async () => {
  expect(Object.keys(INCIDENTS)).toHaveLength(50)
  const missed: unknown[] = []
  let [told, plain] = [0, 0]
  for (const [name, { cause, truth }] of Object.entries(INCIDENTS)) {
    const { project } = present(places.get(name))
    const { found, bytes } = await diagnose(project)
    const wanted = { cause, ...truth(project) }
    if (JSON.stringify(found) !== JSON.stringify(wanted)) missed.push({ name, wanted, found })
    told += bytes
    plain += Buffer.byteLength(JSON.stringify({ data: await api.query(PLAIN, { project }) }))
  }
  expect(missed.length, JSON.stringify(missed)).toBeLessThanOrEqual(5)
  expect(told / plain).toBeLessThanOrEqual(0.5)
})
