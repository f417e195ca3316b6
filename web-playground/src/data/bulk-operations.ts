import { type Client, ClientError } from 'phaseline/client'
import { readPages } from 'phaseline/client-model'
import type { BulkOutcome } from '../generated/documents.d.ts'
import { type BulkPlan, type BulkRequest, requestsOf, type Verb } from '../model/bulk.ts'
import { AskedStore } from './asked-store.ts'
import { SELECT_LIMIT } from './bulk.ts'
import { CREATE, OPERATIONS, OUTCOME_IDS } from './documents-bulk.ts'
import type { ResultOf } from './gql.ts'
import { messageOf } from './live-read.ts'
import type { Session } from './session.ts'

/** Milliseconds before each further attempt: a network that changes loses all requests that are under way. */
const PAUSES_MS = [500, 2_000]

export interface Started {
  readonly ids: readonly string[]
  /** Projects whose operation was refused, with the reason. */
  readonly refused: readonly string[]
}

/** Creates the operations of a confirmed plan, one for each project. */
export async function startBulk(client: Client, plan: BulkPlan): Promise<Started> {
  const ids: string[] = []
  const refused: string[] = []
  for (const request of requestsOf(plan)) {
    try {
      const answer = await create(client, plan.verb, request)
      if (answer?.id === undefined) refused.push(`${request.project}: ${answer?.code}: ${answer?.message}`)
      else ids.push(answer.id)
    } catch (error) {
      refused.push(`${request.project}: ${messageOf(error)}`)
    }
  }
  return { ids, refused }
}

async function create(client: Client, verb: Verb, request: BulkRequest) {
  const key = crypto.randomUUID()
  const time = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const input = { ...request, verb, name: `${verb}-${time}-${key.slice(0, 4)}`, idempotencyKey: key }
  for (let attempt = 0; ; attempt += 1) {
    try {
      return (await client.query(CREATE, { input })).answer
    } catch (error) {
      const pause = PAUSES_MS[attempt]
      if (pause === undefined || !(error instanceof ClientError && error.kind === 'network')) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

/** The most refusals that are shown; more are counted, and can be selected. */
const LISTED = 200
type Node = NonNullable<ResultOf<typeof OPERATIONS>['nodes'][number]>
export type BulkOperation = Extract<Node, { readonly counts: object }>

/** Operations with their counts and first refusals. */
export function followBulk(session: Session, ids: readonly string[], signal: AbortSignal) {
  let isEnded = false
  const ask = async ({ client }: Session, asking: AbortSignal): Promise<readonly BulkOperation[]> => {
    const first = Math.max(1, Math.floor(LISTED / ids.length))
    const { nodes } = await client.query(OPERATIONS, { ids, first }, { signal: asking })
    const found = nodes.filter((node): node is BulkOperation => node !== null && 'counts' in node)
    isEnded = found.every(({ finished }) => finished)
    return found
  }
  // Each target that is asked changes the log. An operation that has ended changes no more.
  return new AskedStore(session, { ask, concerns: () => !isEnded }, signal)
}

/** The objects of operations with one of these outcomes, as many as can be selected. */
export async function targetIdsOf(
  client: Client,
  ids: readonly string[],
  only: readonly BulkOutcome[],
): Promise<readonly string[]> {
  const found: string[] = []
  for (const id of ids) {
    if (found.length >= SELECT_LIMIT) break
    const read = await readPages(SELECT_LIMIT - found.length, async (first, after) => {
      const { object } = await client.query(OUTCOME_IDS, { id, only, first, after })
      return (object && 'outcomes' in object && object.outcomes) || null
    })
    found.push(...(read?.nodes ?? []).map(({ targetId }) => targetId))
  }
  return found
}
