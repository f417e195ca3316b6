import { WORK_STATE, type Work } from '../../../../src/core/tree.ts'
import type { Phase } from '../../../../src/core/vocabulary.ts'
import type { ConnectCrm } from '../../../../src/families/edge/commands/connect-crm.ts'
import { cloudletDetails, type InstanceDetails, servingSession } from '../../../../src/families/edge/rules/details.ts'
import type { CrmAction } from '../../../../src/families/edge/rules/spec.ts'
import { ModelNode, type ModelRecord } from './slice.ts'

/** Everything that the model knows at one moment. */

/** State of the server. */
export interface ServerState {
  /** The cloudlet first, then the cluster instance, then the app instance. */
  readonly records: readonly ModelRecord[]
  readonly leases: readonly number[]
  /** Objects with a wake request. */
  readonly wakes: readonly string[]
  readonly next: number
}

/** `c`: the one cluster instance; `a`: the one app instance, in it. */
export type Place = 'c' | 'a'
export const PLACES: readonly Place[] = ['c', 'a']

/** An object on a CRM's disk. */
export interface Disk {
  /** Id of the record that it was made for. */
  readonly owner: string
  readonly rev: number
  /** Half made, half changed, half removed; null: it is as it should be. */
  readonly half: CrmAction | null
  /** The previous state of a half-done change. */
  readonly old: Disk | null
}

export interface Job {
  readonly fence: string
  readonly age: string
  readonly owner: string
  readonly action: CrmAction
  readonly rev: number
  readonly begun: boolean
  /** As it was before the request, to be put back when it fails. */
  readonly before: Disk | null
}

export interface Crm {
  readonly up: boolean
  /** The CRM has a session and receives requests. */
  readonly connected: boolean
  /** Number of the process. */
  readonly process: number
  /** How often it has called, so that the server knows a call that was overtaken. */
  readonly calls: number
  readonly disk: Readonly<Record<Place, Disk | null>>
  readonly jobs: Readonly<Record<Place, Job | null>>
  /** The last failure until it is acknowledged. */
  readonly failed: Readonly<Record<Place, CrmAction | null>>
  /** Fences of requests that it has taken: each is done once. */
  readonly seen: readonly string[]
}

export interface Request {
  readonly place: Place
  readonly fence: string
  /** Orders the fences of one object by when they were made. */
  readonly age: string
  readonly owner: string
  readonly action: CrmAction
  readonly rev: number
}
export interface SentReport {
  readonly place: Place
  readonly fence: string
  readonly age: string
  readonly owner: string
  readonly phase: Phase
}

export interface State extends ServerState {
  readonly crm: Crm
  /** On their way to the CRM, in the order in which they were sent. */
  readonly requests: readonly Request[]
  /** On their way to the server. */
  readonly reports: readonly SentReport[]
  /** A call that the CRM has given up on, and that may still arrive. */
  readonly late: ConnectCrm | null
  /** The disk was changed by hand, and no resync has seen the change. */
  readonly tampered: boolean
}

export const instanceAt = ({ records }: Pick<State, 'records'>, place: Place): ModelRecord | null =>
  records.find(({ row }) => row.kind === (place === 'c' ? 'CLUSTER_INST' : 'APP_INST')) ?? null
export const placeOf = (kind: string): Place => (kind === 'APP_INST' ? 'a' : 'c')
export const cloudletOf = ({ records }: Pick<ServerState, 'records'>): ModelRecord => records[0] as ModelRecord
export const processName = (n: number): string => `p${n}`

export const ageOf = (jobId: string, attempt: number, epoch: number): string =>
  `${jobId}/${String(attempt).padStart(3, '0')}/${String(epoch).padStart(3, '0')}`
const NO_FENCE = '~'

/** The present fence of a record's work; null: the request was not dispatched. */
export function workAge(work: Work | null): string | null {
  if (!work?.fenceHash) return null
  const epoch = Number(work.instance?.slice(1) ?? 0)
  return ageOf(work.jobId ?? '', work.attempt, epoch)
}

/**
 * States that differ in names alone have one key: the order of an object's fences and revisions distinguishes them. State
 * that no rule and no CRM reads is left out.
 */
export function keyOf(state: State): string {
  const { records, leases, wakes, crm, requests, reports, late, tampered } = state
  const root = records[0] as ModelRecord
  const node = new ModelNode(root)
  const serving = servingSession(node)
  const { orphans, sessions, replaced } = cloudletDetails(node)
  const parts = [
    root.row.phase,
    serving ? (serving.instance === processName(crm.process) ? 'S' : 's') : '-',
    leases.length,
    `${crm.up ? 'U' : 'd'}${crm.connected ? 'C' : 'x'}`,
    orphans.map(({ path, phase }) => `${path.length}${phase}`).join(),
    tampered ? 'T' : '',
  ]
  const ids = new Map<string, string>()
  for (const place of PLACES) parts.push(placeKey(state, place, ids))
  parts.push(
    wakes
      .map((id) => ids.get(id) ?? (id === root.row.id ? 'k' : ''))
      .sort()
      .join(''),
  )
  parts.push(requests.map(({ place, fence }) => place + ids.get(fence)).join())
  parts.push(
    reports
      .map(({ place, fence, phase }) => place + ids.get(fence) + phase)
      .sort()
      .join(),
  )
  if (late) {
    const session = sessions.find(({ instance }) => instance === late.instance)
    const isOvertaken = session ? late.call <= session.call : replaced.includes(late.instance)
    // It is refused, whatever its content.
    parts.push(isOvertaken ? 'l' : `${late.instance === processName(crm.process) ? 'L' : 'k'}${objectsKey(late)}`)
  }
  return parts.join('|')
}

const objectsKey = ({ objects }: ConnectCrm): string =>
  objects.map(({ path, phase, specRevision }) => `${path.length}${phase}${specRevision}`).join()

function placeKey(state: State, place: Place, ids: Map<string, string>): string {
  const { crm, requests, reports } = state
  const record = instanceAt(state, place)
  const { disk, job } = { disk: crm.disk[place], job: crm.jobs[place] }
  const work = record?.work ?? null
  const current = workAge(work)
  const requestsHere = requests.filter((one) => one.place === place)
  const reportsHere = reports.filter((one) => one.place === place)
  const ages = new Map<string, { fence: string; owner: string }>()
  for (const one of [...requestsHere, ...reportsHere, ...(job ? [job] : [])]) ages.set(one.age, one)
  const sorted = [...new Set([...ages.keys(), ...(current ? [current] : [])])].sort()
  for (const [rank, age] of sorted.entries()) {
    const one = ages.get(age)
    if (one) ids.set(one.fence, `${rank}${one.owner === record?.row.id ? '' : 'g'}`)
  }
  if (record) ids.set(record.row.id, place)
  const details = record?.details as InstanceDetails | undefined
  const revision = revisions(record, [
    details?.specRevision,
    details?.keptRevision ?? undefined,
    ...diskRevisions(disk),
    ...(job ? [job.rev, ...diskRevisions(job.before)] : []),
    ...requestsHere.map(({ rev }) => rev),
  ])
  const owner = (id: string): string => (id === record?.row.id ? 'o' : 'x')
  const onDisk = (of: Disk | null): string =>
    of ? `${owner(of.owner)}${revision(of.rev)}${of.half ? `${of.half}(${onDisk(of.old)})` : ''}` : '-'
  return [
    record ? recordKey(state, record, current ? sorted.indexOf(current) : NO_FENCE, revision) : '-',
    onDisk(disk),
    job ? `${ids.get(job.fence)}${job.action}${job.begun ? 'b' : ''}${revision(job.rev)}[${onDisk(job.before)}]` : '-',
    crm.failed[place] ?? '',
    requestsHere.map(({ action, rev, fence }) => `${ids.get(fence)}${action}${revision(rev)}`).join(),
  ].join(';')
}

function recordKey(
  { crm }: State,
  { row, work, details }: ModelRecord,
  rank: number | string,
  revision: (rev: number) => string,
): string {
  const { specRevision, keptRevision, drifted, undoing } = details as InstanceDetails
  const workKey = work
    ? [
        work.state === WORK_STATE.DONE ? 'D' : 'A',
        rank,
        work.dueAt ? 't' : '',
        work.pickedUpAt ? 'p' : '',
        work.fenceHash && work.instance === processName(crm.process) ? 'm' : '',
        work.fenceHash && crm.seen.includes(hexOf(work.fenceHash)) ? 's' : '',
      ].join('')
    : '-'
  const kept = keptRevision === null ? '' : revision(keptRevision)
  return `${row.phase}${revision(specRevision)}/${kept}${drifted ? 'd' : ''}${undoing ? 'u' : ''}${workKey}`
}
export const hexOf = (hash: Buffer): string => hash.toString('hex')

const diskRevisions = (disk: Disk | null): readonly number[] =>
  disk ? [disk.rev, ...(disk.half ? diskRevisions(disk.old) : [])] : []

/** Known revisions are distinguished by their order; revisions above the last one will be given again. */
function revisions(record: ModelRecord | null, alive: readonly (number | undefined)[]): (rev: number) => string {
  const last = record ? (record.details as InstanceDetails).lastRevision : 0
  const known = [...new Set(alive.filter((rev) => rev !== undefined))].sort((a, b) => a - b)
  return (rev) => (rev > last ? `+${rev - last}` : String(known.indexOf(rev)))
}
