import type { Phase } from '../../../../src/core/vocabulary.ts'
import type { InstanceDetails } from '../../../../src/families/edge/rules/details.ts'
import { operationOf } from '../../../../src/families/edge/rules/operations.ts'
import type { CrmAction, ReportedObject } from '../../../../src/families/edge/rules/spec.ts'
import { openFence } from '../../../../src/store/fence.ts'
import {
  type Crm,
  type Disk,
  hexOf,
  instanceAt,
  type Job,
  PLACES,
  type Place,
  type Request,
  type SentReport,
  type State,
} from './state.ts'
import { Violation } from './violation.ts'

/** A CRM that follows the contract: its requests, its instances and its reports. */

const at = <T>(all: Readonly<Record<Place, T>>, place: Place, value: T): Readonly<Record<Place, T>> => ({
  ...all,
  [place]: value,
})
const seenKey = (fence: string): string => hexOf(openFence(fence)?.hash ?? Buffer.alloc(0))
const seenKeys = (job: Job | null): readonly string[] => (job ? [seenKey(job.fence)] : [])
export const hasSeen = ({ seen }: Crm, { fence }: Request): boolean => seen.includes(seenKey(fence))

/** It replaces whatever runs for the object: that has stopped when this begins. */
export function take(crm: Crm, { place, fence, age, owner, action, rev }: Request): Crm {
  if (hasSeen(crm, { place, fence, age, owner, action, rev }) || crm.jobs[place]?.fence === fence) return crm
  const job: Job = { fence, age, owner, action, rev, begun: false, before: crm.disk[place] }
  const jobs = at(crm.jobs, place, job)
  return { ...crm, jobs, failed: at(crm.failed, place, null), seen: [...crm.seen, seenKey(fence)] }
}

/** The state before a change began. */
const original = (disk: Disk | null): Disk | null => (disk?.half ? original(disk.old) : disk)
/** The state after the change. */
const made = ({ action, owner, rev }: Job): Disk | null =>
  action === 'DELETE' ? null : { owner, rev, half: null, old: null }

function beginJob(crm: Crm, place: Place): Crm {
  const job = crm.jobs[place]
  if (!job || job.begun) return crm
  const { owner, rev, action, before } = job
  const half: Disk = { owner, rev, half: action, old: original(before) }
  return { ...crm, disk: at(crm.disk, place, half), jobs: at(crm.jobs, place, { ...job, begun: true }) }
}

const reportOf = (place: Place, { fence, age, owner }: Job, phase: Phase): SentReport => ({
  place,
  fence,
  age,
  owner,
  phase,
})

/** Only the server knows the dependencies, so it must never request this. */
function checkOrder(state: State, place: Place, { action }: Job): void {
  const { crm, tampered } = state
  if (tampered || (instanceAt(state, 'c')?.details as InstanceDetails | undefined)?.drifted) return
  if (place === 'a' && action !== 'DELETE' && crm.disk.c === null)
    throw new Violation('an app instance is made in a cluster instance that is not there')
  if (place === 'c' && action === 'DELETE' && crm.disk.a !== null)
    throw new Violation('a cluster instance is removed under an app instance')
}

/** `asks`: it touches nothing before its report is accepted. */
export function begin(state: State, place: Place, asks: boolean): State | null {
  const job = state.crm.jobs[place]
  if (!job || job.begun || (asks && state.reports.some(({ fence }) => fence === job.fence))) return null
  const reports = [...state.reports, reportOf(place, job, operationOf(job.action).working)]
  if (asks) return { ...state, reports }
  checkOrder(state, place, job)
  return { ...state, crm: beginJob(state.crm, place), reports }
}

export function finish(state: State, place: Place, asks: boolean): State | null {
  const { crm } = state
  const job = crm.jobs[place]
  if (!job || (asks && !job.begun)) return null
  checkOrder(state, place, job)
  const phase = job.action !== 'DELETE' ? 'READY' : job.begun ? 'NOT_PRESENT' : 'DELETED'
  return {
    ...state,
    crm: { ...crm, disk: at(crm.disk, place, made(job)), jobs: at(crm.jobs, place, null) },
    reports: [...state.reports, reportOf(place, job, phase)],
  }
}

/** Restores the previous state and reports it. */
export function fail(state: State, place: Place, asks: boolean): State | null {
  const { crm } = state
  const job = crm.jobs[place]
  if (!job || (asks && !job.begun)) return null
  return {
    ...state,
    crm: { ...putBack(crm, place, job), failed: at(crm.failed, place, job.action) },
    reports: [...state.reports, reportOf(place, job, operationOf(job.action).failed)],
  }
}
const putBack = (crm: Crm, place: Place, { action, before }: Job): Crm => ({
  ...crm,
  // After a failed deletion an incomplete instance stays incomplete; any other returns to its last complete state.
  disk: at(crm.disk, place, action === 'DELETE' && before?.half === 'CREATE' ? before : original(before)),
  jobs: at(crm.jobs, place, null),
})

/** Handles the answer to a report. */
export function answered(crm: Crm, { place, fence, phase }: SentReport, accepted: boolean, asks: boolean): Crm {
  const job = crm.jobs[place]
  // Refused: the CRM forgets the request and its effects. The server may want the replaced state after all.
  if (!accepted && job?.fence === fence) {
    const restored = putBack(crm, place, job)
    return asks ? { ...restored, seen: PLACES.flatMap((one) => seenKeys(restored.jobs[one])) } : restored
  }
  if (!accepted) return crm
  if (asks && job?.fence === fence) return beginJob(crm, place)
  return phase.endsWith('_ERROR') && !job ? { ...crm, failed: at(crm.failed, place, null) } : crm
}

/** Restores half-done changes without a request. */
const tidied = (crm: Crm): Crm => ({
  ...crm,
  disk: { c: crm.jobs.c ? crm.disk.c : original(crm.disk.c), a: crm.jobs.a ? crm.disk.a : original(crm.disk.a) },
})

/** All that it has and is at, as it says when it connects; whoever comes back has begun what it has taken. */
export function inventory(
  crm: Crm,
  name: string,
  { isNew, asks }: { readonly isNew: boolean; readonly asks: boolean },
): { readonly crm: Crm; readonly objects: readonly ReportedObject[] } {
  const tidy = isNew ? crm : tidied(crm)
  const begun = asks ? tidy : PLACES.reduce(beginJob, tidy)
  const objects = PLACES.flatMap((place): readonly ReportedObject[] => {
    const phase = phaseAt(begun, place)
    const path = place === 'c' ? [name, 'c'] : [name, 'c', 'a']
    const specRevision = begun.disk[place]?.rev ?? null
    return phase ? [{ kind: place === 'c' ? 'CLUSTER_INST' : 'APP_INST', path, phase, specRevision }] : []
  })
  return { crm: begun, objects }
}
function phaseAt({ jobs, disk, failed }: Crm, place: Place): Phase | null {
  const job = jobs[place]
  if (job) return operationOf(job.action).working
  const half = disk[place]?.half
  // A new process takes it up again.
  if (half) return operationOf(half).working
  const action = failed[place]
  return action ? operationOf(action).failed : disk[place] ? 'READY' : null
}

const NONE = { c: null, a: null } as const
/** A crash: forgets running changes, which stay half done. */
export const crash = (crm: Crm): Crm => ({ ...crm, up: false, connected: false, jobs: NONE, failed: NONE, seen: [] })

export type Cleaning = 'back' | 'on' | 'keep'
export const CLEANINGS: readonly Cleaning[] = ['back', 'on', 'keep']
export const isHalf = ({ disk }: Crm): boolean => PLACES.some((place) => disk[place]?.half)

/** A new process: what is half done is cleaned up, one way or the other, or taken up again. */
export function restart(crm: Crm, how: Cleaning): Crm {
  const clean = (disk: Disk | null): Disk | null => {
    if (!disk?.half || how === 'keep') return disk
    return how === 'back' ? original(disk) : cleaned(disk.half, disk)
  }
  const disk = { c: clean(crm.disk.c), a: clean(crm.disk.a) }
  return { ...crm, up: true, process: crm.process + 1, calls: 0, disk, jobs: NONE, failed: NONE, seen: [] }
}
const cleaned = (half: CrmAction, { owner, rev }: Disk): Disk | null =>
  half === 'DELETE' ? null : { owner, rev, half: null, old: null }
