import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTinyServer, type TinyOptions, type TinyServer } from './tiny-server.ts'

/** A tiny server that offers work, as an agent sees it: claims, leases, reports, log lines. */
export interface WorkServer extends AsyncDisposable {
  readonly tiny: TinyServer
  readonly items: ReadonlyMap<string, Offered>
  readonly calls: Readonly<Record<'claim' | 'renew' | 'report' | 'logs', number>>
  /** The most claimed by one call, and reported by one. */
  readonly largest: { claim: number; report: number }
  readonly lines: readonly { readonly fence: string; readonly text: string }[]
  offer(...items: readonly (Partial<Offered> & { readonly name: string })[]): void
  get(name: string): Offered
}
export interface Offered {
  readonly name: string
  readonly type: string
  readonly action: string
  readonly config: unknown
  phase: string
  attempt: number
  fence: string | null
  leaseUntil: number
  abortRequested: boolean
  /** Every report that was accepted, repetitions included. */
  readonly reports: Readonly<Record<string, unknown>>[]
  readonly renewals: number[]
}

export const TOKEN = 'agent-token'
const SDL = `
  scalar JSON
  enum WorkAction { RECONCILE DELETE START }
  enum LeaseState { HELD ABORT_REQUESTED LOST }
  interface Error { message: String! code: String! }
  type InvalidInputError implements Error { message: String! code: String! }
  type ForbiddenError implements Error { message: String! code: String! }
  type StaleReportError implements Error { message: String! code: String! }
  enum Phase { INIT PROGRESSING SUCCEEDED FAILED ABORTED RUNNING DELETING DELETE_FAILED GONE UNDOING UNDO_FAILED READY }
  type TransitionError implements Error { message: String! code: String! allowed: [Phase!]! }
  type WorkItem {
    fence: String! objectId: ID! projectId: ID kind: String! name: String! jobId: ID action: WorkAction! dryRunOf: WorkAction type: String! target: String
    config: JSON attempt: Int! token: String traceparent: String
  }
  type ClaimedWork { items: [WorkItem!]! waitedMs: Int! }
  union ClaimWorkResult = ClaimedWork | InvalidInputError | ForbiddenError
  input ClaimWorkInput { instance: String! types: [String!]! targets: [String!] max: Int! leaseMs: Int! waitMs: Int }
  type LeaseRenewal { fence: String! state: LeaseState! }
  type RenewedLeases { leases: [LeaseRenewal!]! }
  union RenewLeasesResult = RenewedLeases | ForbiddenError
  input RenewLeasesInput { fences: [String!]! leaseMs: Int! }
  type PhaseReportAccepted { changed: Boolean! }
  union PhaseReportResult = PhaseReportAccepted | StaleReportError | TransitionError | InvalidInputError
  type PhaseReports { results: [PhaseReportResult!]! }
  union ReportPhasesResult = PhaseReports | ForbiddenError
  input PhaseReportInput {
    fence: String! phase: Phase done: Boolean message: String progress: JSON exports: JSON error: JSON traceparent: String
  }
  input ReportPhasesInput { reports: [PhaseReportInput!]! }
  input LogLineInput { fence: String! at: String! stream: String! text: String! }
  input AppendLogsInput { lines: [LogLineInput!]!, sentAt: String }
  type AppendedLogs { accepted: Int! }
  union AppendLogsResult = AppendedLogs | ForbiddenError
  type WorkOffer { type: String! waiting: Int! }
  type Query { x: Int }
  type Mutation {
    claimWork(input: ClaimWorkInput!): ClaimWorkResult
    renewLeases(input: RenewLeasesInput!): RenewLeasesResult
    reportPhases(input: ReportPhasesInput!): ReportPhasesResult
    appendLogs(input: AppendLogsInput!): AppendLogsResult
  }
  type Subscription { workOffered(types: [String!]!, targets: [String!]): WorkOffer! }
`

interface Reported {
  readonly fence: string
  readonly phase?: string
  readonly error?: { readonly retryable?: boolean }
}

export async function startWorkServer(options: Partial<TinyOptions> = {}): Promise<WorkServer> {
  const items = new Map<string, Offered>()
  const calls = { claim: 0, renew: 0, report: 0, logs: 0 }
  const largest = { claim: 0, report: 0 }
  const lines: { fence: string; text: string }[] = []
  let offers = 0
  let closed = false

  const claimable = ({ phase, fence, leaseUntil, abortRequested }: Offered): boolean =>
    (phase === 'INIT' || phase === 'PROGRESSING') && !abortRequested && (fence === null || leaseUntil < Date.now())
  const byFence = (fence: string): Offered | undefined => {
    const item = items.get(fence.split(' ')[0] ?? '')
    return item?.fence === fence ? item : undefined
  }
  function claim(item: Offered, leaseMs: number) {
    item.fence = `${item.name} ${randomUUID()}`
    item.attempt += 1
    item.phase = 'PROGRESSING'
    item.leaseUntil = Date.now() + leaseMs
    return { ...item, objectId: item.name, kind: 'DEPLOY_ITEM' }
  }
  function report(one: Reported) {
    const item = byFence(one.fence)
    if (!item) return { __typename: 'StaleReportError', message: 'Too late.', code: 'STALE_REPORT' }
    if (one.phase === 'READY')
      return { __typename: 'TransitionError', message: 'Not from here.', code: 'TRANSITION', allowed: ['FAILED'] }
    const changed = one.phase !== undefined && one.phase !== item.phase
    if (one.phase) item.phase = one.phase
    if (one.error?.retryable) item.fence = null
    item.reports.push({ ...one })
    return { __typename: 'PhaseReportAccepted', changed }
  }

  const rootValue = {
    claimWork: ({ input }: { input: { types: string[]; max: number; leaseMs: number } }) => {
      calls.claim += 1
      if (input.types.includes('forbidden'))
        return { __typename: 'ForbiddenError', message: 'Not you.', code: 'FORBIDDEN' }
      const claimed = items
        .values()
        .filter((item) => input.types.includes(item.type) && claimable(item))
        .take(input.max)
        .map((item) => claim(item, input.leaseMs))
        .toArray()
      largest.claim = Math.max(largest.claim, claimed.length)
      return { __typename: 'ClaimedWork', items: claimed, waitedMs: 0 }
    },
    renewLeases: ({ input }: { input: { fences: string[]; leaseMs: number } }) => {
      calls.renew += 1
      const leases = input.fences.map((fence) => {
        const item = byFence(fence)
        if (!item || item.leaseUntil < Date.now()) return { fence, state: 'LOST' }
        item.leaseUntil = Date.now() + input.leaseMs
        item.renewals.push(Date.now())
        return { fence, state: item.abortRequested ? 'ABORT_REQUESTED' : 'HELD' }
      })
      return { __typename: 'RenewedLeases', leases }
    },
    reportPhases: ({ input }: { input: { reports: Reported[] } }) => {
      calls.report += 1
      largest.report = Math.max(largest.report, input.reports.length)
      return { __typename: 'PhaseReports', results: input.reports.map(report) }
    },
    appendLogs: ({ input }: { input: { lines: { fence: string; text: string }[] } }) => {
      calls.logs += 1
      lines.push(...input.lines.map(({ fence, text }) => ({ fence, text })))
      return { __typename: 'AppendedLogs', accepted: input.lines.length }
    },
    async *workOffered() {
      for (let seen = -1; !closed; await sleep(2)) {
        if (seen === offers) continue
        seen = offers
        yield { workOffered: { type: 'mock', waiting: 1 } }
      }
    },
  }
  const tiny = await startTinyServer({ ...options, sdl: SDL, rootValue, token: TOKEN })
  return {
    tiny,
    items,
    calls,
    largest,
    lines,
    offer(...added) {
      for (const item of added) items.set(item.name, { ...fresh(), ...item })
      offers += 1
    },
    get(name) {
      const item = items.get(name)
      if (!item) throw new Error(`there is no ${name}`)
      return item
    },
    async [Symbol.asyncDispose]() {
      closed = true
      await tiny[Symbol.asyncDispose]()
    },
  }
}

const fresh = (): Omit<Offered, 'name'> => ({
  type: 'mock',
  action: 'RECONCILE',
  config: null,
  phase: 'INIT',
  attempt: 0,
  fence: null,
  leaseUntil: 0,
  abortRequested: false,
  reports: [],
  renewals: [],
})
