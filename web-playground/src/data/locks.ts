import type { Lock } from '../model/lock-queues.ts'
import type { Question } from './asked-store.ts'
import { LOCKS } from './documents-work.ts'

const PAGE = 500
/** More would be no page to look at. */
const MOST = 5_000

export interface Locks {
  readonly locks: readonly Lock[]
  readonly total: number
}
interface LockPage {
  readonly locks: {
    readonly totalCount: number | null
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
    readonly edges: readonly { readonly node: Lock }[]
  }
}

/** Locks are taken and let go as jobs move on. */
export const LOCKS_NOW: Question<Locks> = {
  concerns: ({ kind }) => kind === 'GADGET_JOB',
  async ask({ client }, signal) {
    const found: Lock[] = []
    let total = 0
    for (let after: string | null = null, more = true; more && found.length < MOST; ) {
      const { locks }: LockPage = await client.query<LockPage>(LOCKS, { first: PAGE, after }, { signal })
      found.push(...locks.edges.map(({ node }) => node))
      total = locks.totalCount ?? found.length
      more = locks.pageInfo.hasNextPage
      after = locks.pageInfo.endCursor
    }
    return { locks: found, total: Math.max(total, found.length) }
  },
}
