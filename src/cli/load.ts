import { type Outcome, refused } from '../client-model/index.ts'
import { gql } from '../documents/gql.ts'
import type { ResultOf } from '../documents/typed-document.ts'
import type { Session } from './session.ts'
import { answerRefusal } from './terminal/ask.ts'
import { duration, words } from './terminal/text.ts'

const LOAD = gql(`query Load {
  load {
    complete
    work { type offered deferred claimed oldestSeconds }
    trees { due oldestSeconds failing }
    slots { pool waiting holding capacity }
    waitingLocks
    agents { actor count }
  }
}`)
export type Load = NonNullable<ResultOf<typeof LOAD>['load']>

const TOO_OLD = 'This server is of an earlier version, which does not say how much work waits.'

/** The work of all projects. @throws ClientError */
export async function readLoad({ client, io }: Pick<Session, 'client' | 'io'>): Promise<Outcome<Load | null>> {
  try {
    return { ok: true, value: (await client.query(LOAD, {}, { signal: io.signal })).load }
  } catch (error) {
    const refusal = answerRefusal(error)
    if (!refusal) throw error
    return refused(refusal.code === 'GRAPHQL_VALIDATION_FAILED' ? { ...refusal, message: TOO_OLD } : refusal)
  }
}

/** Prints what waits, and for how long. */
export function printLoad(session: Session, { complete, work, trees, slots, waitingLocks, agents }: Load): void {
  const late = trees.due > 0 ? `, the oldest for ${duration(trees.oldestSeconds * 1000)}` : ''
  session.say(
    `due     ${trees.due} trees${late}${trees.failing > 0 ? `, ${trees.failing} fail again and again` : ''}`,
    ...slots.map(
      ({ pool, holding, capacity, waiting }) =>
        `slots   ${words(pool)}s: ${holding} of ${capacity} taken, ${waiting} wait`,
    ),
    `locks   ${waitingLocks} tasks wait for one`,
    `roles   ${agents.map(({ actor, count }) => `${count} ${words(actor)}`).join(', ') || 'no agents'}`,
  )
  session.list({
    nodes: work,
    columns: {
      WORK: ({ type }) => type,
      WAITING: ({ offered }) => offered,
      OLDEST: ({ oldestSeconds }) => (oldestSeconds === null ? '' : duration(oldestSeconds * 1000)),
      DEFERRED: ({ deferred }) => deferred,
      CLAIMED: ({ claimed }) => claimed,
    },
    none: 'No work is open.',
  })
  if (!complete) session.note('The database has not answered in time: some of these figures are missing.')
}
