import { WORK_STATE } from '../../../../src/core/tree.ts'
import { resolveCloudletUpgrade, upgradeCloudlet } from '../../../../src/families/edge/commands/cloudlets.ts'
import { type CloudletDetails, cloudletDetails } from '../../../../src/families/edge/rules/details.ts'
import { fenceParts } from '../../../../src/families/edge/rules/requests.ts'
import type { Session } from '../../../../src/families/edge/rules/spec.ts'
import { requestFence, sessionFence } from '../../../../src/families/edge/store/fences.ts'
import { openFence } from '../../../../src/store/fence.ts'
import { USER } from '../../../testkit/world.ts'
import type { Action, Model } from './search.ts'
import * as server from './server.ts'
import { idOf, ModelNode, NOW, newRecord, newRow } from './slice.ts'
import { hexOf, processName, type ServerState } from './state.ts'
import { Violation } from './violation.ts'

/** A cloudlet alone: the processes that serve it, and the upgrade from one to the next. */

interface Process {
  readonly n: number
  /** Brought up by an upgrade, and not serving so far. */
  readonly isSecond: boolean
  /** The CRM receives requests. */
  readonly connected: boolean
  /** The epoch of its session, once it has received it. */
  readonly fence: string | null
  /** The upgrade request that it has received. */
  readonly request: Request | null
  readonly taken: string | null
}
interface Request {
  readonly fence: string
  readonly operationId: string
  /** The second process was started for it. */
  readonly begun: boolean
}
interface SentReport extends server.CrmReport {
  readonly n: number
}

export interface Upgrading extends ServerState {
  /** The living processes. */
  readonly processes: readonly Process[]
  readonly started: number
  readonly reports: readonly SentReport[]
}

/** A cloudlet that was just created. */
export function created(): Upgrading {
  const row = newRow({ id: idOf(1), rootId: idOf(1), parentId: null, kind: 'CLOUDLET', name: 'k', ordinal: 0 })
  const record = newRecord({ ...row, phase: 'INIT' }, {}, { connectDue: new Date(NOW.getTime() + 1) })
  return { records: [record], leases: [], wakes: [], next: 2, processes: [], started: 0, reports: [] }
}

const rootOf = ({ records }: ServerState): ModelNode => new ModelNode(records[0] as (typeof records)[number])
const detailsOf = (state: ServerState): CloudletDetails => cloudletDetails(rootOf(state))
const sessionOf = (state: ServerState, n: number): Session | null =>
  detailsOf(state).sessions.find(({ instance }) => instance === processName(n)) ?? null

const changed = (state: Upgrading, to: Process): Upgrading => ({
  ...state,
  processes: state.processes.map((one) => (one.n === to.n ? to : one)),
})
const ended = (state: Upgrading, n: number): Upgrading => ({
  ...state,
  processes: state.processes.filter((one) => one.n !== n),
})
function started(state: Upgrading, isSecond: boolean): Upgrading {
  const process = { n: state.started + 1, isSecond, connected: false, fence: null, request: null, taken: null }
  return { ...state, started: process.n, processes: [...state.processes, process] }
}

async function connect(state: Upgrading, process: Process, isAnswered = true): Promise<Upgrading> {
  const { n, isSecond } = process
  const cloudletId = rootOf(state).row.id
  const role = isSecond ? 'CRM_V2' : 'CRM'
  const input = {
    cloudletId,
    instance: processName(n),
    role,
    version: String(n),
    leaseMs: 30_000,
    call: 0,
    objects: [],
  } as const
  const next = await server.connect(state, input)
  // The answer makes it end.
  if (!next) return ended(state, n)
  const session = sessionOf(next, n)
  if (!session) throw new Violation('a process has connected and has no session')
  if (!isAnswered) return next
  return changed(next, { ...process, connected: true, fence: sessionFence(session.salt, cloudletId).fence })
}

/** The upgrade requested of a process; null: none that is new to it. */
function newRequest(state: Upgrading, { n, connected, taken }: Process): Request | null {
  const root = rootOf(state)
  const { work } = root
  const session = sessionOf(state, n)
  const isRequested = work?.state === WORK_STATE.CLAIMED && work.fenceHash !== null && work.instance === processName(n)
  if (!connected || !session || !isRequested || detailsOf(state).upgradePhase !== 'UPDATE_REQUESTED') return null
  const { fence } = requestFence(fenceParts(root, session))
  return fence === taken ? null : { fence, operationId: root.row.jobId ?? '', begun: false }
}
const take = (state: Upgrading, process: Process, request: Request): Upgrading =>
  changed(state, { ...process, request, taken: request.fence })

const sendReport = (state: Upgrading, n: number, report: server.CrmReport): Upgrading => ({
  ...state,
  reports: [...state.reports, { ...report, n }],
})
const withoutSecond = (state: Upgrading): Upgrading => ({
  ...state,
  processes: state.processes.filter(({ isSecond }) => !isSecond),
})

function begin(state: Upgrading, process: Process, request: Request): Upgrading {
  const next = changed(started(withoutSecond(state), true), { ...process, request: { ...request, begun: true } })
  return sendReport(next, process.n, { ...request, phase: 'UPDATING' })
}
function giveUp(state: Upgrading, process: Process, request: Request): Upgrading {
  const next = changed(withoutSecond(state), { ...process, request: null })
  return sendReport(next, process.n, { ...request, phase: 'UPDATE_ERROR' })
}
/** It has gathered its data and ends the one before. */
function takeOver(state: Upgrading, process: Process, fence: string): Upgrading {
  const alone = { ...state, processes: [process] }
  return sendReport(alone, process.n, { fence, phase: 'READY', operationId: rootOf(state).row.jobId ?? '' })
}

function deliver(state: Upgrading, report: SentReport): Upgrading {
  const { state: next, accepted } = server.report(
    { ...state, reports: state.reports.filter((one) => one !== report) },
    report,
  )
  const process = next.processes.find(({ n }) => n === report.n)
  if (!process || report.phase !== 'READY') return next
  return accepted ? changed(next, { ...process, isSecond: false }) : ended(next, process.n)
}

/** A clock of the record has run out. */
function runOut(state: Upgrading, clock: 'upgradeDue' | 'connectDue'): Upgrading {
  const [record] = state.records
  if (!record) return state
  const details = { ...(record.details as CloudletDetails), [clock]: new Date(0) }
  return server.runEngine({ ...state, records: [{ ...record, details }], wakes: [record.row.id] })
}
const isUpgrading = ({ upgradePhase }: CloudletDetails): boolean =>
  upgradePhase !== 'READY' && upgradePhase !== 'UPDATE_ERROR'

const upgrade = (state: Upgrading) =>
  server.command(state, (parts) => upgradeCloudlet(parts, USER, { id: rootOf(state).row.id, version: '2' }))
const resolve = (state: Upgrading) =>
  server.command(state, (parts) => resolveCloudletUpgrade(parts, USER, { id: rootOf(state).row.id }))

/** Sessions whose process is not there to keep them. */
const deserted = (state: Upgrading): readonly number[] =>
  state.leases.filter((epoch) => {
    const session = detailsOf(state).sessions.find((one) => one.epoch === epoch)
    return !state.processes.some(({ n, connected }) => connected && session?.instance === processName(n))
  })
const hasStream = (state: Upgrading, { n }: Process): boolean => state.leases.includes(sessionOf(state, n)?.epoch ?? 0)

const MAX_REPORTS = 3

function actionsOf(state: Upgrading): readonly Action<Upgrading>[] {
  const details = detailsOf(state)
  const { reports, processes, wakes } = state
  return [
    { name: 'upgrade', run: () => upgrade(state) },
    { name: 'resolve', run: () => resolve(state) },
    ...(wakes.length > 0 ? [{ name: 'engine decides', run: () => server.runEngine(state) }] : []),
    ...(isUpgrading(details) ? [{ name: 'deadline passes', run: () => runOut(state, 'upgradeDue') }] : []),
    ...(details.connectDue ? [{ name: 'nobody has connected', run: () => runOut(state, 'connectDue') }] : []),
    ...deserted(state).map((epoch) => ({ name: `session ${epoch} ends`, run: () => server.expire(state, epoch) })),
    ...(processes.filter(({ isSecond }) => !isSecond).length < 2
      ? [{ name: 'a CRM is started by hand', run: () => started(state, false) }]
      : []),
    ...reports.flatMap((one): readonly Action<Upgrading>[] => [
      { name: `${one.phase} of ${one.n} arrives`, run: () => deliver(state, one) },
      { name: `${one.phase} of ${one.n} arrives, its answer is lost`, run: () => server.report(state, one).state },
      {
        name: `${one.phase} of ${one.n} is lost`,
        run: () => ({ ...state, reports: reports.filter((other) => other !== one) }),
      },
    ]),
    ...processes.flatMap((process) => actionsOfProcess(state, process)),
  ]
}

function actionsOfProcess(state: Upgrading, process: Process): readonly Action<Upgrading>[] {
  const { n, connected, request, isSecond, fence } = process
  const next = newRequest(state, process)
  const mayReport = state.reports.length < MAX_REPORTS
  return [
    { name: `${n} crashes`, run: () => ended(state, n) },
    ...(connected
      ? [{ name: `${n} is cut off`, run: () => changed(state, { ...process, connected: false }) }]
      : [
          { name: `${n} connects`, run: () => connect(state, process) },
          { name: `${n} connects, the answer is lost`, run: () => connect(state, process, false) },
        ]),
    ...(next ? [{ name: `${n} is asked to upgrade`, run: () => take(state, process, next) }] : []),
    ...(request && mayReport
      ? [
          ...(request.begun ? [] : [{ name: `${n} starts another`, run: () => begin(state, process, request) }]),
          { name: `${n} gives up the upgrade`, run: () => giveUp(state, process, request) },
        ]
      : []),
    ...(isSecond && fence && mayReport
      ? [{ name: `${n} takes over`, run: () => takeOver(state, process, fence) }]
      : []),
  ]
}

async function fairStep(state: Upgrading): Promise<{ readonly name: string; readonly state: Upgrading } | null> {
  const to = (name: string, next: Upgrading | null) => next && { name, state: next }
  const details = detailsOf(state)
  const { processes, reports, wakes } = state
  if (wakes.length > 0) return to('engine decides', server.runEngine(state))
  if (reports[0]) return to(`${reports[0].phase} of ${reports[0].n} arrives`, deliver(state, reports[0]))
  for (const process of processes) {
    const { n, connected, request, isSecond, fence } = process
    if (!connected) return to(`${n} connects`, await connect(state, process))
    if (!hasStream(state, process)) return to(`stream of ${n} ends`, changed(state, { ...process, connected: false }))
    const next = newRequest(state, process)
    if (next) return to(`${n} is asked to upgrade`, take(state, process, next))
    if (request && !request.begun) return to(`${n} starts another`, begin(state, process, request))
    if (isSecond && fence) return to(`${n} takes over`, takeOver(state, process, fence))
  }
  const [epoch] = deserted(state)
  if (epoch !== undefined) return to(`session ${epoch} ends`, server.expire(state, epoch))
  if (processes.length === 0) return to('a CRM is started', started(state, false))
  if (isUpgrading(details)) return to('deadline passes', runOut(state, 'upgradeDue'))
  return details.upgradePhase === 'UPDATE_ERROR' ? to('resolve', await resolve(state)) : null
}

function isQuiet(state: Upgrading): boolean {
  const { processes, reports, wakes, leases } = state
  const [process, ...others] = processes
  if (!process || others.length + reports.length + wakes.length > 0 || deserted(state).length > 0) return false
  const { upgradePhase, sessions } = detailsOf(state)
  const isServing = process.connected && !process.isSecond && hasStream(state, process)
  return (
    isServing &&
    leases.length === 1 &&
    sessions.length === 1 &&
    upgradePhase === 'READY' &&
    rootOf(state).row.phase === 'READY'
  )
}

function check(state: Upgrading): void {
  const details = detailsOf(state)
  const roles = details.sessions.map(({ role }) => role)
  if (new Set(roles).size !== roles.length) throw new Violation('two processes have one part')
  if (roles.includes('CRM_V2') !== (details.upgradePhase === 'INIT_OK'))
    throw new Violation(`a second process has a session or has none, and the upgrade is ${details.upgradePhase}`)
  if (isUpgrading(details) !== (details.upgradeDue !== null))
    throw new Violation('a clock runs for no upgrade, or none for one')
  if (rootOf(state).row.phase === 'READY' && !roles.includes('CRM')) throw new Violation('READY, and served by nobody')
  const [process] = state.processes
  if (!isQuiet(state) || !process) return
  if (details.version !== String(process.n) || details.wantedVersion) throw new Violation('recorded is another version')
  if (sessionOf(state, process.n)?.role !== 'CRM') throw new Violation('it is served by one that is not known to serve')
}

/** Processes are reports apart by their order, and fences by whether they are still good. */
function keyOf(state: Upgrading): string {
  const { processes, reports, leases, wakes } = state
  const root = rootOf(state)
  const details = detailsOf(state)
  const numbers = [...processes, ...reports].map(({ n }) => n).sort((a, b) => a - b)
  const order = [...new Set(numbers)]
  const rank = (instance: string | null | undefined): string => {
    const at = order.findIndex((n) => processName(n) === instance)
    return at < 0 ? 'x' : String(at)
  }
  const current = root.work?.fenceHash ? hexOf(root.work.fenceHash) : ''
  const isGood = (fence: string): string => (hexOf(openFence(fence)?.hash ?? Buffer.alloc(0)) === current ? '!' : '')
  return [
    root.row.phase,
    details.upgradePhase,
    details.connectDue ? 'c' : '',
    wakes.length,
    `${current ? rank(root.work?.instance) : '-'}${root.work?.state}`,
    details.sessions
      .map(({ role, instance, epoch }) => `${role}${rank(instance)}${leases.includes(epoch)}`)
      .sort()
      .join(),
    leases.length,
    details.replaced
      .map(rank)
      .filter((one) => one !== 'x')
      .sort()
      .join(),
    processes
      .map(({ n, isSecond, connected, fence, request, taken }) => {
        const requestKey = request ? `r${isGood(request.fence)}${request.begun}` : ''
        return `${rank(processName(n))}${isSecond}${connected}${fence !== null}${requestKey}${taken ? isGood(taken) : ''}`
      })
      .join(),
    reports
      .map(({ n, phase, fence }) => `${rank(processName(n))}${phase}${isGood(fence)}`)
      .sort()
      .join(),
  ].join('|')
}

export const upgrades: Model<Upgrading> = { keyOf, actionsOf, follow: (state) => state, isQuiet, check, fairStep }
