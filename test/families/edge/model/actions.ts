import * as crm from './crm.ts'
import type { Action as AnyAction } from './search.ts'
import * as server from './server.ts'
import type { Disk, Request, SentReport, State } from './state.ts'
import { cloudletOf, instanceAt, PLACES, type Place, processName } from './state.ts'

/** Everything that can happen next to a cluster instance and an app instance. */

export interface Limits {
  /** Reports on their way at a time. */
  readonly reports: number
  /** Requests overtake each other, too: the CRM asks before it begins, since it cannot tell which is newer. */
  readonly reorder: boolean
  /** A call of connectCrm may arrive long after its CRM has given up. */
  readonly late: boolean
}

type Action = AnyAction<State>

export function actionsOf(state: State, limits: Limits): readonly Action[] {
  return [...byUsers(state), ...byNetwork(state, limits), ...byCrm(state, limits), ...byServer(state), ...byHand(state)]
}

function byUsers(state: State): readonly Action[] {
  const request = (name: string, run: (of: State) => Promise<State | null>): Action => ({
    name,
    run: () => run(state),
  })
  return PLACES.flatMap((place) => [
    ...(instanceAt(state, place) ? [] : [request(`create ${place}`, (of) => server.create(of, place))]),
    request(`update ${place}`, (of) => server.update(of, place)),
    request(`delete ${place}`, (of) => server.remove(of, place, false)),
    ...(place === 'c' && instanceAt(state, 'a')
      ? [request('delete c, cascade', (of) => server.remove(of, 'c', true))]
      : []),
    request(`cancel ${place}`, (of) => server.withdraw(of, place)),
  ])
}

const without = <T>(all: readonly T[], one: T): readonly T[] => all.filter((other) => other !== one)

const reportOf = ({ fence, phase, age }: SentReport): server.CrmReport => ({
  fence,
  phase,
  operationId: age.split('/')[0] ?? '',
})
export const deliver = (state: State, sent: SentReport, asks: boolean): State => {
  const { state: next, accepted } = server.report({ ...state, reports: without(state.reports, sent) }, reportOf(sent))
  return next.crm.up ? { ...next, crm: crm.answered(next.crm, sent, accepted, asks) } : next
}
export const receive = (state: State, request: Request): State => ({
  ...state,
  requests: without(state.requests, request),
  crm: crm.take(state.crm, request),
})

const nameOf = ({ place, age, ...one }: SentReport | Request): string =>
  `${place} ${'phase' in one ? one.phase : one.action} #${Number(age.slice(24, 36))}.${Number(age.slice(37, 40))}.${Number(age.slice(41))}`

function byNetwork(state: State, { reports: most, reorder }: Limits): readonly Action[] {
  const { reports, requests } = state
  const ofReports = reports.flatMap((one): readonly Action[] => [
    { name: `report ${nameOf(one)} arrives`, run: () => deliver(state, one, reorder) },
    { name: `report ${nameOf(one)} arrives, its answer is lost`, run: () => server.report(state, reportOf(one)).state },
    { name: `report ${nameOf(one)} is lost`, run: () => ({ ...state, reports: without(reports, one) }) },
  ])
  const ofRequests = requests.flatMap((one): readonly Action[] => {
    const isFirst = requests.find(({ place }) => place === one.place) === one
    const isLast = requests.findLast(({ place }) => place === one.place) === one
    return [
      ...(isFirst || reorder ? [{ name: `request ${nameOf(one)} arrives`, run: () => receive(state, one) }] : []),
      // The last one is sent again until it is taken: its loss is a delay.
      ...(isLast
        ? []
        : [{ name: `request ${nameOf(one)} is lost`, run: () => ({ ...state, requests: without(requests, one) }) }]),
    ]
  })
  return reports.length > most ? ofReports : [...ofReports, ...ofRequests]
}

function byCrm(state: State, limits: Limits): readonly Action[] {
  const { crm: of } = state
  const { reports, reorder } = limits
  if (!of.up) return connecting(state, limits)
  const steps =
    state.reports.length >= reports
      ? []
      : PLACES.flatMap((place): readonly Action[] => [
          { name: `CRM begins ${place}`, run: () => crm.begin(state, place, reorder) },
          { name: `CRM is done with ${place}`, run: () => crm.finish(state, place, reorder) },
          { name: `CRM fails at ${place}`, run: () => crm.fail(state, place, reorder) },
        ])
  return [
    ...steps,
    { name: 'CRM crashes', run: () => ({ ...state, crm: crm.crash(of), requests: [] }) },
    ...(of.connected ? [{ name: 'connection is cut', run: () => cut(state) }] : connecting(state, limits)),
  ]
}
const cut = (state: State): State => ({ ...state, crm: { ...state.crm, connected: false }, requests: [] })

function connecting(state: State, { late, reorder: asks }: Limits): readonly Action[] {
  const { up } = state.crm
  const ways = up || !crm.isHalf(state.crm) ? (['back'] as const) : crm.CLEANINGS
  return ways.flatMap((how): readonly Action[] => {
    const name = up ? 'CRM comes back' : `new CRM connects (what is half done: ${how})`
    return [
      { name, run: () => connect(state, { how, asks }) },
      { name: `${name}, the answer is lost`, run: () => connect(state, { how, asks, arrives: 'unanswered' }) },
      ...(late && !state.late
        ? [{ name: `${name}, but too slowly`, run: () => connect(state, { how, asks, arrives: 'late' }) }]
        : []),
    ]
  })
}

interface Connecting {
  readonly how: crm.Cleaning
  readonly asks: boolean
  readonly arrives?: 'answered' | 'unanswered' | 'late'
}
export async function connect(state: State, { how, asks, arrives = 'answered' }: Connecting): Promise<State> {
  const isNew = !state.crm.up
  const before = isNew ? crm.restart(state.crm, how) : state.crm
  const process = { ...before, calls: before.calls + 1 }
  const { crm: now, objects } = crm.inventory(process, cloudletOf(state).row.name, { isNew, asks })
  const input = server.connection(state, now, objects)
  if (arrives === 'late') return { ...state, crm: now, late: input, requests: [] }
  // That it is at something does not say what there was, and a report from before says what was true then.
  const tampered = state.tampered && (state.reports.length > 0 || objects.some(({ phase }) => phase !== 'READY'))
  const next = await server.connect({ ...state, crm: now, tampered }, input)
  // A newer one connected meanwhile, so the server ends this one.
  if (!next) return { ...state, crm: crm.crash(now), requests: [] }
  if (arrives === 'unanswered') return { ...next, crm: { ...next.crm, connected: false }, requests: [] }
  return send({ ...next, crm: { ...next.crm, connected: true }, requests: [] }, isNew)
}

/** A request is in flight at once, until the CRM takes it. */
export function send(state: State, includesBegun = false): State {
  if (!state.crm.connected) return state
  const isNew = (one: Request): boolean =>
    !crm.hasSeen(state.crm, one) && !state.requests.some(({ fence }) => fence === one.fence)
  const more = server.outstanding(state, includesBegun).filter(isNew)
  return more.length > 0 ? { ...state, requests: [...state.requests, ...more] } : state
}

function byServer(state: State): readonly Action[] {
  const { late, wakes, leases, crm: of } = state
  return [
    ...(wakes.length > 0 ? [{ name: 'engine decides', run: () => server.runEngine(state) }] : []),
    ...PLACES.map((place) => ({ name: `deadline of ${place} passes`, run: () => server.deadline(state, place) })),
    ...(leases.length > 0 && !of.connected
      ? [{ name: 'session ends', run: () => leases.reduce(server.expire, state) }]
      : []),
    ...(late ? [{ name: 'slow CRM call arrives', run: () => arriveLate(state, late) }] : []),
  ]
}

/**
 * The stream of requests ends with it, if it is of the same process: then that has to connect again. A process that has
 * died since and was never known is taken for the newest one: what it said is believed until the next one connects.
 */
async function arriveLate(state: State, late: NonNullable<State['late']>): Promise<State> {
  const rest = { ...state, late: null }
  const next = await server.connect(rest, late)
  if (!next) return rest
  return cut({ ...next, tampered: next.tampered || late.instance !== processName(state.crm.process) })
}

function byHand(state: State): readonly Action[] {
  const { crm: of } = state
  const put = (place: Place, disk: Disk | null): State => ({
    ...state,
    tampered: true,
    // The state changed by hand is no longer the one that a failed action restored.
    crm: { ...of, disk: { ...of.disk, [place]: disk }, failed: { ...of.failed, [place]: null } },
  })
  return PLACES.flatMap((place): readonly Action[] => {
    const disk = of.disk[place]
    if (!disk || disk.half || of.jobs[place]) return []
    return [
      ...(place === 'c' && of.disk.a ? [] : [{ name: `${place} is removed by hand`, run: () => put(place, null) }]),
      { name: `${place} is changed by hand`, run: () => put(place, { ...disk, rev: 0 }) },
    ]
  })
}
