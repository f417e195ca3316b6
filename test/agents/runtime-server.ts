import { randomUUID } from 'node:crypto'
import { startTinyServer, type TinyOptions, type TinyServer } from '../client/tiny-server.ts'

/** A tiny server that offers START and REMOVE as a runtime sees them, and lets a test take leases away. */
export interface RuntimeServer extends AsyncDisposable {
  readonly tiny: TinyServer
  readonly lines: readonly { readonly objectId: string; readonly stream: string; readonly text: string }[]
  offer(objectId: string, action: 'START' | 'REMOVE', config: unknown): void
  get(objectId: string): Offered
  /** True while renewals, reports and claims get no answer. */
  away: boolean
}
export interface Offered {
  action: 'START' | 'REMOVE'
  config: unknown
  phase: string
  attempt: number
  fence: string | null
  leaseUntil: number
  target: string | null
  done: boolean
  readonly reports: Readonly<Record<string, unknown>>[]
}

export const TOKEN = 'agent-token'
const FINAL = ['SUCCEEDED', 'FAILED', 'ABORTED', 'SCHEDULING_FAILED']
const SDL = `
  scalar JSON
  interface Error { message: String! code: String! }
  type StaleReportError implements Error { message: String! code: String! }
  type WorkItem {
    fence: String! objectId: ID! projectId: ID kind: String! name: String! jobId: ID action: String! type: String! target: String
    config: JSON attempt: Int! token: String traceparent: String dryRunOf: String
  }
  type ClaimedWork { items: [WorkItem!]! waitedMs: Int! }
  union ClaimWorkResult = ClaimedWork | StaleReportError
  input ClaimWorkInput { instance: String! types: [String!]! targets: [String!] max: Int! leaseMs: Int! waitMs: Int }
  type LeaseRenewal { fence: String! state: String! }
  type RenewedLeases { leases: [LeaseRenewal!]! }
  union RenewLeasesResult = RenewedLeases | StaleReportError
  input RenewLeasesInput { fences: [String!]! leaseMs: Int! }
  type PhaseReportAccepted { changed: Boolean! }
  union PhaseReportResult = PhaseReportAccepted | StaleReportError | TransitionError
  type TransitionError implements Error { message: String! code: String! allowed: [String!]! }
  type PhaseReports { results: [PhaseReportResult!]! }
  union ReportPhasesResult = PhaseReports | StaleReportError
  input PhaseReportInput { fence: String! phase: String done: Boolean message: String exports: JSON error: JSON traceparent: String }
  input ReportPhasesInput { reports: [PhaseReportInput!]! }
  input LogLineInput { fence: String! at: String! stream: String! text: String! }
  input AppendLogsInput { lines: [LogLineInput!]!, sentAt: String }
  type AppendedLogs { accepted: Int! }
  union AppendLogsResult = AppendedLogs | StaleReportError
  input LabelInput { key: String! value: String! }
  input RegisterPlaceInput { name: String! type: String! labels: [LabelInput!]! capacity: Int }
  type ChangedPlaces { names: [String!]! }
  union RegisterPlaceResult = ChangedPlaces | StaleReportError
  type WorkOffer { type: String! waiting: Int! }
  type Object { finished: Boolean! }
  type Query { object(id: ID!): Object }
  type Mutation {
    claimWork(input: ClaimWorkInput!): ClaimWorkResult
    renewLeases(input: RenewLeasesInput!): RenewLeasesResult
    reportPhases(input: ReportPhasesInput!): ReportPhasesResult
    appendLogs(input: AppendLogsInput!): AppendLogsResult
    registerPlace(input: RegisterPlaceInput!): RegisterPlaceResult
  }
  type Subscription { workOffered(types: [String!]!, targets: [String!]): WorkOffer! }
`
type Report = Readonly<Record<string, unknown>> & { readonly fence: string }

export async function startRuntimeServer(options: Partial<TinyOptions> = {}): Promise<RuntimeServer> {
  const items = new Map<string, Offered>()
  const lines: { objectId: string; stream: string; text: string }[] = []
  let closed = false
  const byFence = (fence: string): [string, Offered] | undefined => [...items].find(([, item]) => item.fence === fence)

  const isOpen = ({ action, done, phase }: Offered): boolean => (action === 'REMOVE' ? !done : !FINAL.includes(phase))
  function report({ fence, ...shown }: Report) {
    const item = byFence(fence)?.[1]
    if (!item || !isOpen(item)) return { __typename: 'StaleReportError', message: 'Too late.', code: 'STALE_REPORT' }
    if (typeof shown.phase === 'string') item.phase = shown.phase
    if (shown.done) item.done = true
    item.reports.push(shown)
    return { __typename: 'PhaseReportAccepted', changed: true }
  }
  const rootValue = {
    claimWork({ input }: { input: { instance: string; targets: string[]; max: number; leaseMs: number } }) {
      const claimed = [...items]
        .filter(([, item]) => isOpen(item) && item.leaseUntil < Date.now())
        .filter(([, { target }]) => target === null || input.targets.includes(target))
        .slice(0, input.max)
        .map(([objectId, item]) => {
          item.fence = `${objectId} ${randomUUID()}`
          item.attempt += 1
          item.target = input.instance
          item.leaseUntil = Date.now() + input.leaseMs
          return { ...item, objectId, kind: 'WORKER', name: 'worker', type: 'process', token: 'worker-token' }
        })
      return { __typename: 'ClaimedWork', items: claimed, waitedMs: 0 }
    },
    renewLeases: ({ input }: { input: { fences: string[]; leaseMs: number } }) => ({
      __typename: 'RenewedLeases',
      leases: input.fences.map((fence) => {
        const item = byFence(fence)?.[1]
        if (!item || !isOpen(item)) return { fence, state: 'LOST' }
        item.leaseUntil = Date.now() + input.leaseMs
        return { fence, state: 'HELD' }
      }),
    }),
    registerPlace: ({ input }: { input: { name: string } }) => ({ __typename: 'ChangedPlaces', names: [input.name] }),
    reportPhases: ({ input }: { input: { reports: Report[] } }) => ({
      __typename: 'PhaseReports',
      results: input.reports.map(report),
    }),
    appendLogs({ input }: { input: { lines: { fence: string; stream: string; text: string }[] } }) {
      for (const { fence, stream, text } of input.lines) {
        // Older fences count, too: no other instance has the work.
        const [objectId = ''] = fence.split(' ')
        if (items.has(objectId)) lines.push({ objectId, stream, text })
      }
      return { __typename: 'AppendedLogs', accepted: input.lines.length }
    },
    object({ id }: { id: string }) {
      const item = items.get(id)
      return item ? { finished: FINAL.includes(item.phase) } : null
    },
    async *workOffered() {
      while (!closed) {
        yield { workOffered: { type: 'process', waiting: 1 } }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
  }
  const server = {
    away: false,
    lines,
    offer(objectId: string, action: 'START' | 'REMOVE', config: unknown) {
      const known = items.get(objectId)
      const item = { attempt: 0, target: null, phase: 'STARTING', reports: [], ...known }
      items.set(objectId, { ...item, action, config, fence: null, leaseUntil: 0, done: false })
    },
    get(objectId: string) {
      const item = items.get(objectId)
      if (!item) throw new Error(`there is no ${objectId}`)
      return item
    },
  }
  const tiny = await startTinyServer({ breakOff: () => server.away, ...options, sdl: SDL, rootValue, token: TOKEN })
  return Object.assign(server, {
    tiny,
    async [Symbol.asyncDispose]() {
      closed = true
      await tiny[Symbol.asyncDispose]()
    },
  })
}
