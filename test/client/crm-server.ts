import { setTimeout as sleep } from 'node:timers/promises'
import { startTinyServer, type TinyOptions, type TinyServer } from './tiny-server.ts'

/** A tiny server as a CRM sees it: sessions with epochs, requests that are repeated until acknowledged, reports. */
export interface CrmServer extends AsyncDisposable {
  readonly tiny: TinyServer
  readonly connects: readonly ConnectInput[]
  /** All reports that came, in order, with their answers. */
  readonly reports: readonly Report[]
  readonly lines: readonly Line[]
  renewals: number
  /** Requests an action, in place of an earlier request for the same object. */
  ask(path: string, action: Asked['action'], more?: Partial<Pick<Asked, 'kind' | 'spec' | 'specRevision'>>): Asked
  /** Withdraws the request for the object. */
  withdraw(path: string): void
  /** Makes the request again, with the same fence. */
  restore(asked: Asked): void
  /** Puts a request on the stream as it is, whatever is outstanding. */
  resend(asked: Asked): void
  /** The present session of the role. */
  session(role?: string): Session | undefined
  /** Somebody else connects. */
  supersede(): void
  /** True while HTTP gets no answer. */
  away: boolean
  /** True: a session outlives its stream, as when the server has not noticed its end. */
  patient: boolean
}
export interface ConnectInput {
  readonly cloudletId: string
  readonly instance: string
  readonly role: string
  readonly version: string
  readonly leaseMs: number
  readonly call: number
  readonly objects: readonly {
    readonly kind: string
    readonly path: readonly string[]
    readonly phase: string
    readonly specRevision: number | null
  }[]
}
export interface Session {
  readonly instance: string
  readonly epoch: number
  readonly fence: string
  leaseHeld: boolean
  over: boolean
  streams: number
}
export interface Asked {
  readonly fence: string
  readonly kind: 'CLOUDLET' | 'CLUSTER_INST' | 'APP_INST'
  readonly path: readonly string[]
  readonly action: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly spec: unknown
  readonly specRevision: number
  /** As reported. */
  phases: string[]
  error: { readonly code: string; readonly message: string } | null
  open: boolean
}
export interface Line {
  readonly fence: string
  readonly stream: string
  readonly text: string
  /** The phases reported of its object before the line came. */
  readonly phases: readonly string[]
}
export interface Report {
  readonly fence: string
  readonly phase?: string
  readonly progress?: { readonly step?: string; readonly value?: number; readonly total?: number }
  readonly error?: { readonly code: string; readonly message: string }
  readonly answer: string
}

export const TOKEN = 'crm-token'
export const CLOUDLET = 'cloud1'
const FINAL = ['READY', 'NOT_PRESENT', 'DELETED', 'CREATE_ERROR', 'UPDATE_ERROR', 'DELETE_ERROR']
const SDL = `
  scalar JSON
  interface Error { message: String! code: String! }
  type StaleReportError implements Error { message: String! code: String! }
  type TransitionError implements Error { message: String! code: String! allowed: [String!]! }
  type NotFoundError implements Error { message: String! code: String! }
  enum Kind { CLOUDLET }
  enum CrmRole { CRM CRM_V1 CRM_V2 }
  enum CrmAction { CREATE UPDATE DELETE }
  input CrmObjectInput { kind: String! path: [String!]! phase: String! specRevision: Int }
  input ConnectCrmInput {
    cloudletId: ID! instance: String! role: CrmRole! = CRM version: String! leaseMs: Int! = 30000 call: Int! = 0
    objects: [CrmObjectInput!]!
  }
  type CrmRequest {
    fence: String! objectId: ID! kind: String! path: [String!]! action: CrmAction! operationId: ID! specRevision: Int!
    spec: JSON
  }
  type CrmSession { epoch: Int! fence: String! requests: [CrmRequest!]! }
  union ConnectCrmResult = CrmSession | StaleReportError | NotFoundError
  type LeaseRenewal { fence: String! state: String! }
  type RenewedLeases { leases: [LeaseRenewal!]! }
  union RenewLeasesResult = RenewedLeases | StaleReportError
  input RenewLeasesInput { fences: [String!]! leaseMs: Int! }
  type PhaseReportAccepted { changed: Boolean! }
  union PhaseReportResult = PhaseReportAccepted | StaleReportError | TransitionError
  type PhaseReports { results: [PhaseReportResult!]! }
  union ReportPhasesResult = PhaseReports | StaleReportError
  input PhaseReportInput { fence: String! phase: String progress: JSON error: JSON }
  input ReportPhasesInput { reports: [PhaseReportInput!]! }
  input LogLineInput { fence: String! at: String! stream: String! text: String! }
  input AppendLogsInput { lines: [LogLineInput!]!, sentAt: String }
  type AppendedLogs { accepted: Int! }
  union AppendLogsResult = AppendedLogs | StaleReportError
  type Object { id: ID! name: String! }
  type Query { objectByPath(kind: Kind!, path: [String!]!): Object }
  type Mutation {
    connectCrm(input: ConnectCrmInput!): ConnectCrmResult
    renewLeases(input: RenewLeasesInput!): RenewLeasesResult
    reportPhases(input: ReportPhasesInput!): ReportPhasesResult
    appendLogs(input: AppendLogsInput!): AppendLogsResult
  }
  type Subscription { crmRequests(cloudletId: ID!, epoch: Int!): CrmRequest! }
`
const TICK_MS = 5
type Outstanding = Asked & { readonly n: number }

interface CrmServerOptions extends Partial<TinyOptions> {
  /** How often an unacknowledged request is sent again. */
  readonly repeatMs?: number
}

export async function startCrmServer({ repeatMs = 100, ...wire }: CrmServerOptions = {}): Promise<CrmServer> {
  const sessions = new Map<string, Session>()
  const outstanding = new Map<string, Outstanding>()
  const connects: ConnectInput[] = []
  const reports: Report[] = []
  const lines: Line[] = []
  const extra: Asked[] = []
  let [epoch, asked, closed] = [0, 0, false]

  const isLive = (session: Session | undefined): boolean => session !== undefined && !session.over
  const byFence = (fence: string): Session | undefined =>
    [...sessions.values()].find((session) => session.fence === fence)
  const serving = (): Session | undefined => sessions.get('CRM')
  const fenceOf = (path: string, n: number): string => `${serving()?.epoch ?? 0} ${path} ${n}`
  const wireOf = (one: Outstanding) => {
    const path = one.path.join('/')
    return { ...one, fence: fenceOf(path, one.n), objectId: path, operationId: `operation ${one.n}` }
  }
  const byRequest = (fence: string): Outstanding | undefined =>
    [...outstanding.entries()].find(([path, { n }]) => fenceOf(path, n) === fence)?.[1]
  const stale = (message: string) => ({ __typename: 'StaleReportError', message, code: 'STALE_REPORT' })

  function connect({ input }: { input: ConnectInput }) {
    connects.push(input)
    const { role, instance, cloudletId } = input
    if (cloudletId !== CLOUDLET) return { __typename: 'NotFoundError', message: 'No such cloudlet.', code: 'NOT_FOUND' }
    const known = sessions.get(role)
    const past = connects.slice(0, -1).some((one) => one.instance === instance)
    if (past && known?.instance !== instance) return stale('A newer epoch has connected.')
    if (known?.instance !== instance) {
      epoch += 1
      if (known) known.over = true
      sessions.set(role, { instance, epoch, fence: `session ${epoch}`, leaseHeld: true, over: false, streams: 0 })
    }
    const session = sessions.get(role) as Session
    Object.assign(session, { over: false, leaseHeld: true })
    return { __typename: 'CrmSession', ...session, requests: role === 'CRM' ? openOnes().map(wireOf) : [] }
  }
  const openOnes = () => [...outstanding.values()].filter((one) => one.open)

  function report(received: Omit<Report, 'answer'>) {
    const answer = judge(received)
    reports.push({ ...received, answer: answer.__typename })
    return answer
  }
  function judge({ fence, phase, error }: Omit<Report, 'answer'>) {
    const successor = sessions.get('CRM_V2')
    if (successor && fence === successor.fence) return takeOver(successor)
    const one = byRequest(fence)
    if (!one || !isLive(serving())) return stale('Nobody waits for that.')
    if (phase === undefined) return { __typename: 'PhaseReportAccepted', changed: false }
    if (!one.open && one.phases.at(-1) !== phase) {
      return {
        __typename: 'TransitionError',
        message: `Not from ${one.phases.at(-1)}.`,
        code: 'TRANSITION',
        allowed: [],
      }
    }
    one.phases.push(phase)
    one.error = error ?? null
    if (FINAL.includes(phase)) one.open = false
    return { __typename: 'PhaseReportAccepted', changed: true }
  }
  function takeOver(successor: Session) {
    const old = serving()
    if (old) old.over = true
    sessions.set('CRM', successor)
    sessions.delete('CRM_V2')
    for (const one of outstanding.values()) if (one.kind === 'CLOUDLET') one.open = false
    return { __typename: 'PhaseReportAccepted', changed: true }
  }

  function crmRequests({ epoch: of }: { epoch: number }) {
    const gone = new AbortController()
    const requests = requestsOf(of, gone.signal)
    return {
      next: () => requests.next(),
      // A generator that waits would hear of it with its next request only.
      return() {
        gone.abort()
        return requests.return(undefined)
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }
  async function* requestsOf(of: number, gone: AbortSignal) {
    const session = [...sessions.values()].find((one) => one.epoch === of)
    if (!session) return
    session.streams += 1
    const sentAt = new Map<string, number>()
    try {
      for (; !closed && !gone.aborted && isLive(session); await sleep(TICK_MS)) {
        for (const one of session === serving() ? openOnes() : []) {
          const request = wireOf(one)
          const last = sentAt.get(request.fence)
          if (last !== undefined && (one.phases.length > 0 || Date.now() - last < repeatMs)) continue
          sentAt.set(request.fence, Date.now())
          yield { crmRequests: request }
        }
        for (const one of extra.splice(0)) {
          yield { crmRequests: { ...one, objectId: one.path.join('/'), operationId: 'operation' } }
        }
      }
    } finally {
      session.streams -= 1
      if (session.streams === 0 && !server.patient) session.over = true
    }
  }

  const rootValue = {
    connectCrm: connect,
    renewLeases({ input }: { input: { fences: string[] } }) {
      server.renewals += 1
      const leases = input.fences.map((fence) => {
        const session = byFence(fence)
        return { fence, state: isLive(session) && session?.leaseHeld ? 'HELD' : 'LOST' }
      })
      return { __typename: 'RenewedLeases', leases }
    },
    reportPhases: ({ input }: { input: { reports: Omit<Report, 'answer'>[] } }) => ({
      __typename: 'PhaseReports',
      results: input.reports.map(report),
    }),
    appendLogs({ input }: { input: { lines: { fence: string; stream: string; text: string }[] } }) {
      for (const line of input.lines) lines.push({ ...line, phases: [...(byRequest(line.fence)?.phases ?? [])] })
      return { __typename: 'AppendedLogs', accepted: input.lines.length }
    },
    objectByPath: ({ path }: { path: string[] }) =>
      path.join('/') === CLOUDLET ? { id: CLOUDLET, name: CLOUDLET } : null,
    crmRequests,
  }
  const server = {
    away: false,
    patient: false,
    renewals: 0,
    connects,
    reports,
    lines,
    ask(path: string, action: Asked['action'], more: Partial<Asked> = {}): Asked {
      asked += 1
      const n = asked
      const parts = [CLOUDLET, ...path.split('/').filter((part) => part !== '')]
      const kind = (['CLOUDLET', 'CLUSTER_INST', 'APP_INST'] as const)[parts.length - 1] ?? 'APP_INST'
      const id = parts.join('/')
      const one = {
        n,
        kind,
        path: parts,
        action,
        spec: { n },
        specRevision: n,
        phases: [],
        error: null,
        open: true,
        ...more,
        get fence() {
          return fenceOf(id, n)
        },
      }
      outstanding.set(id, one)
      return one
    },
    withdraw: (path: string) => void outstanding.delete(`${CLOUDLET}/${path}`),
    restore: (one: Asked) => void outstanding.set(one.path.join('/'), one as Outstanding),
    resend: (one: Asked) => void extra.push({ ...one }),
    session: (role = 'CRM') => sessions.get(role),
    supersede() {
      connect({
        input: {
          cloudletId: CLOUDLET,
          instance: 'somebody',
          role: 'CRM',
          version: '1',
          leaseMs: 0,
          call: 1,
          objects: [],
        },
      })
    },
  }
  const tiny = await startTinyServer({ breakOff: () => server.away, ...wire, sdl: SDL, rootValue, token: TOKEN })
  return Object.assign(server, {
    tiny,
    async [Symbol.asyncDispose]() {
      closed = true
      await tiny[Symbol.asyncDispose]()
    },
  })
}
