import { readPages } from 'phaseline/client-model'
import type { Question } from '../../data/asked-store.ts'
import { CREATED } from '../../data/documents-create.ts'
import { gql } from '../../data/gql.ts'
import type { Lock } from './model/lock-queues.ts'

export const CREATE_TASK = gql(
  `mutation Create($input: CreateTaskInput!) { answer: createTask(input: $input) ${CREATED}`,
)
const LOCKS = gql(`query Locks($first: Int!, $after: String) {
  locks(first: $first, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges {
      node {
        resource mode held position declaredAt grantedAt
        object { id name phase root { id name } project { name } }
      }
    }
  }
}`)

const PAGE = 500
/** The most locks that a page shows. */
const MOST = 5_000

export interface Locks {
  readonly locks: readonly Lock[]
  readonly total: number
}

/** Jobs take and release locks with phase changes. */
export const LOCKS_NOW: Question<Locks> = {
  concerns: ({ kind }) => kind === 'GADGET_JOB',
  async ask({ client }, signal) {
    const listed = await readPages<Lock>(MOST, async (_, after) => {
      return (await client.query(LOCKS, { first: PAGE, after }, { signal })).locks
    })
    const locks = listed?.nodes ?? []
    return { locks, total: listed?.totalCount ?? locks.length }
  },
}
