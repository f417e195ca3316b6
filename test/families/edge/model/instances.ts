import { cloudletDetails, type InstanceDetails } from '../../../../src/families/edge/rules/details.ts'
import { actionsOf, connect, deliver, type Limits, receive, send } from './actions.ts'
import { begin, finish } from './crm.ts'
import type { Model } from './search.ts'
import * as server from './server.ts'
import { ModelNode, type ModelRecord, ownersOf } from './slice.ts'
import { cloudletOf, instanceAt, keyOf, PLACES, type Place, type State } from './state.ts'
import { Violation } from './violation.ts'

/** Invariants of a cluster instance and an app instance. */

export const instances = (limits: Limits): Model<State> => ({
  keyOf,
  actionsOf: (state) => actionsOf(state, limits),
  follow: send,
  isQuiet,
  // A call that is late may raise an alarm for nothing, until the next one.
  check: (state) => check(state, { isExact: !limits.late && !limits.reorder }),
  fairStep: (state) => fairStep(state, limits.reorder),
})

interface Strictness {
  /** Nothing is said to have drifted that has not. */
  readonly isExact: boolean
}

/** Nothing is on its way and nothing runs. */
function isQuiet({ records, wakes, crm, requests, reports, late }: State): boolean {
  const isDone = wakes.length + requests.length + reports.length === 0 && !late && !crm.jobs.c && !crm.jobs.a
  return isDone && crm.connected && records.every(({ row }) => row.phase === 'READY')
}

function check(state: State, how: Strictness): void {
  for (const place of PLACES) {
    const record = instanceAt(state, place)
    if (record) {
      const { row, spec, details } = record
      if (ownersOf(row.phase).size !== 1) throw new Violation(`not exactly one actor has its turn in ${row.phase}`)
      if ((spec as { v: number }).v !== (details as InstanceDetails).specRevision)
        throw new Violation('a revision stands for another spec')
    }
    if (isQuiet(state) && !state.tampered) checkAgreement(state, place, how)
  }
  checkParallel(instanceAt(state, 'c'), instanceAt(state, 'a'))
}

/** While anything is done to an app instance its cluster instance is there, or waits for it to go. */
function checkParallel(cluster: ModelRecord | null, app: ModelRecord | null): void {
  if (!app) return
  if (!cluster) throw new Violation('an app instance without cluster instance')
  const { phase } = cluster.row
  const isUntouched =
    phase === 'READY' || phase === 'DELETE_PREPARE' || (app.row.phase === 'READY' && !phase.startsWith('DELET'))
  if (!isUntouched) throw new Violation(`an app instance is ${app.row.phase}, and its cluster instance is ${phase}`)
}

/** Exactly the recorded instances exist, as recorded. */
function checkAgreement(state: State, place: Place, { isExact }: Strictness): void {
  const record = instanceAt(state, place)
  const disk = state.crm.disk[place]
  if (!record) {
    const { orphans } = cloudletDetails(new ModelNode(cloudletOf(state)))
    const isListed = orphans.some(({ path }) => path.length === (place === 'c' ? 2 : 3))
    if (disk && !isListed) throw new Violation(`${place} is there, and nobody knows of it`)
    return
  }
  const { specRevision, drifted, undoing } = record.details as InstanceDetails
  if (undoing) throw new Violation(`${place} is READY and being undone`)
  if (record.work?.dueAt) throw new Violation(`a clock runs for ${place}, which is READY`)
  if (record.row.jobId !== record.row.finishedJobId) throw new Violation(`${place} is READY, and its job is not over`)
  const isSo = disk?.half === null && disk.owner === record.row.id && disk.rev === specRevision
  if (!isSo && !drifted) throw new Violation(`${place} is recorded as READY, and is not so`)
  if (isExact && isSo && drifted) throw new Violation(`${place} is said to have drifted, and has not`)
}

async function fairStep(state: State, asks: boolean): Promise<{ readonly name: string; readonly state: State } | null> {
  const to = (name: string, next: State | null) => next && { name, state: send(next) }
  if (state.wakes.length > 0) return to('engine decides', server.runEngine(state))
  if (state.late) return to('slow call is lost', { ...state, late: null })
  const { crm, reports, requests } = state
  if (!crm.connected) return to('CRM connects', await connect(state, { how: 'back', asks }))
  if (reports[0]) return to(`report ${reports[0].place} ${reports[0].phase}`, deliver(state, reports[0], asks))
  if (requests[0]) return to(`request ${requests[0].place} ${requests[0].action}`, receive(state, requests[0]))
  for (const place of PLACES) {
    const next = begin(state, place, asks) ?? finish(state, place, asks)
    if (next) return to(`CRM works at ${place}`, next)
  }
  for (const place of PLACES) {
    const next = server.deadline(state, place)
    if (next) return to(`deadline of ${place}`, next)
  }
  return null
}
