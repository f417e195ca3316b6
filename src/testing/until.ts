import type { Client, PhaseChange } from '../client/index.ts'
import { gql } from '../documents/gql.ts'
import type { TestServer } from './api.ts'

const HEAD = gql('query HeadOfLog { log { head } }')
const WAIT_MS = 10_000

/** Follows the log from its beginning, so that it knows of an object what it is now, and misses nothing. */
export async function until(
  client: Client,
  [path, phase, { project = 'default', kind, timeoutMs = WAIT_MS } = {}]: Parameters<TestServer['until']>,
): Promise<PhaseChange> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { log } = await client.query(HEAD)
  const filter = { project, ...(kind && { kinds: [kind] }) }
  let last: PhaseChange | null = null as PhaseChange | null
  for await (const { changes, through } of client.followPhases({ after: 0, filter, signal })) {
    for (const change of changes) {
      if (change.path !== path || change.revision === 0) continue
      last = change
      if (change.to === phase && change.sequence > log.head) return change
    }
    if (last?.to === phase && through >= log.head) return last
  }
  const state = last ? `is ${last.to}` : `is not there (project ${project})`
  throw new Error(
    `${path} has not become ${phase} in ${timeoutMs} ms: it ${state}. Does it wait for a time? advance() moves it.`,
  )
}
