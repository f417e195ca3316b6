import { type Client, ClientError } from 'phaseline/client'
import { nodesOf, readPages } from 'phaseline/client-model'
import { workedKinds } from '../model/known.ts'
import type { Agent, WorkObject } from '../model/work.ts'
import type { Question } from './asked-store.ts'
import { AGENTS, LOAD, WORK } from './documents-work.ts'

const PAGE = 500
/** Agents of ended processes stay listed. */
const AGENTS_READ = 2_000
/** Unfinished objects, the oldest first; the page says when there are more. */
const WORK_READ = 500

export interface Load {
  /** False: some figures are missing. */
  readonly complete: boolean
  readonly trees: { readonly due: number; readonly oldestSeconds: number }
  readonly work: readonly {
    readonly type: string
    readonly offered: number
    readonly deferred: number
    readonly claimed: number
    /** Null: none waits. */
    readonly oldestSeconds: number | null
  }[]
}
export interface AgentsNow {
  readonly agents: readonly Agent[]
  readonly agentTotal: number
  readonly work: readonly WorkObject[]
  readonly workTotal: number
  /** Null: the viewer has no right to it, or the server has none. */
  readonly load: Load | null
  /** Why the server has none. */
  readonly loadProblem: string | null
}

export const AGENTS_NOW: Question<AgentsNow> = {
  concerns: ({ kind }) => workedKinds().includes(kind),
  async ask({ client, viewer }, signal) {
    const [listed, { objects }, { load, loadProblem }] = await Promise.all([
      readAgents(client, signal),
      client.query(WORK, { kinds: workedKinds(), first: WORK_READ }, { signal }),
      viewer.seesLoad ? readLoad(client, signal) : { load: null, loadProblem: null },
    ])
    const agents = listed?.nodes ?? []
    const work = nodesOf(objects)
    return {
      agents,
      agentTotal: listed?.totalCount ?? agents.length,
      work,
      workTotal: objects?.totalCount ?? work.length,
      load,
      loadProblem,
    }
  },
}

/** A server of an earlier version has no such figures: all else is shown without them. */
const readLoad = (client: Client, signal: AbortSignal): Promise<Pick<AgentsNow, 'load' | 'loadProblem'>> =>
  client.query(LOAD, {}, { signal }).then(
    ({ load }) => ({ load, loadProblem: null }),
    (error: unknown) => {
      if (error instanceof ClientError && error.kind === 'graphql' && !error.retryable)
        return { load: null, loadProblem: error.message }
      throw error
    },
  )

const readAgents = (client: Client, signal: AbortSignal) =>
  readPages<Agent>(AGENTS_READ, async (_, after) => {
    return (await client.query(AGENTS, { first: PAGE, after }, { signal })).agents
  })
