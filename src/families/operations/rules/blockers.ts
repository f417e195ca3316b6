import {
  type AgentBlocker,
  agentBlocker,
  type BackoffBlocker,
  backoffBlocker,
  type ChildrenBlocker,
  type ObjectBlocker,
  type WithSource,
} from '../../../core/blocker.ts'
import type { OfferedWork } from '../../../core/claimant.ts'
import { awaitsAgent, WORK_STATE, type WorkState } from '../../../core/tree.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import { describeGate, type GateBlocker, gateBlocker } from '../../gate.ts'
import type { StartGate } from '../../start-gate.ts'
import { isOver, type JobRetry } from './details.ts'
import type { LockMode } from './lock-mode.ts'

/** Blockers of tasks and their jobs. */

export interface Waiting {
  readonly id: string
  readonly kind: ObjectKind
  readonly name: string
  readonly phase: Phase
  readonly projectId: string
  readonly taskPhase: Phase | null
  /** Jobs of the task that have not ended. */
  readonly open: number | null
  readonly type: string | null
  readonly workState: WorkState | null
  /** Null as well once its runner was asked to stop. */
  readonly leaseUntil: Date | null
  readonly retry: JobRetry | null
  /** The gate at which it waits; null: none. */
  readonly gate: StartGate | null
  /** Why its last attempt failed. */
  readonly problem: string | null
  readonly dependsOn: readonly { readonly id: string; readonly name: string; readonly phase: Phase }[]
}
export interface LockWait {
  readonly resource: string
  readonly mode: LockMode
  readonly position: number
  readonly ahead: readonly { readonly objectId: string; readonly mode: LockMode; readonly held: boolean }[]
}
export interface BlockerInputs {
  readonly now: Date
  readonly objects: ReadonlyMap<string, Waiting>
  /** Jobs that wait, by their task, in their order: not all of a task that has many. */
  readonly jobsOf: ReadonlyMap<string | null, readonly Waiting[]>
  readonly locks: ReadonlyMap<string, readonly LockWait[]>
  /** Jobs that could not be undone, among these and those that they wait for. */
  readonly undecided: ReadonlySet<string>
  /** True if a connected gadget runner may take it. */
  isServed(work: OfferedWork): boolean
}

export type OperationsBlocker =
  | ObjectBlocker<'DECISION' | 'DEPENDENCY'>
  | ChildrenBlocker
  | AgentBlocker
  | BackoffBlocker
  | GateBlocker
  | {
      readonly reason: 'LOCK'
      readonly message: string
      readonly resource: string
      readonly mode: LockMode
      readonly position: number
      readonly holderIds: readonly string[]
      readonly waiterIds: readonly string[]
    }

/** The blockers of a task are those of its jobs, then the jobs themselves. */
export function blockersOf(id: string, inputs: BlockerInputs): readonly WithSource<OperationsBlocker>[] {
  const { objects, locks, undecided, isServed } = inputs
  const object = objects.get(id)
  if (!object) return []
  const { kind, name, phase, projectId, open, type, workState, dependsOn, retry, gate, problem, leaseUntil } = object
  if (kind === 'TASK') {
    if (!(phase === 'RUNNING' || phase === 'ABORTING') || open === null || open === 0) return []
    const message = open === 1 ? 'One of its jobs has not ended.' : `${open} of its jobs have not ended.`
    const ofJobs = (inputs.jobsOf.get(id) ?? []).flatMap((job) =>
      blockersOf(job.id, inputs).map((one) => ({ ...one, sourceId: job.id })),
    )
    const decisions = ofJobs.filter(({ reason }) => reason === 'DECISION')
    const others = ofJobs.filter(({ reason }) => reason !== 'DECISION')
    return [...decisions, ...unique(others), { reason: 'CHILDREN', message, open }]
  }
  if (isOver(phase)) return []
  if (phase === 'UNDO_FAILED') {
    const message = `${name} could not be undone and keeps its locks: a person must decide whether that is tried again.`
    return [{ reason: 'DECISION', message, objectId: id }]
  }
  if (gate?.approval) return [{ reason: 'DECISION', message: describeGate(gate), objectId: id }]
  if (gate) return [gateBlocker(gate)]
  if (phase === 'PENDING' && retry?.nextAt && new Date(retry.nextAt) > inputs.now)
    return [backoffBlocker(new Date(retry.nextAt), retry, problem)]
  if (phase === 'PENDING')
    return [
      ...decide(
        dependsOn.map((one) => one.id),
        undecided,
      ),
      ...dependsOn.map(dependency),
    ]
  if (phase === 'WAITING') {
    const waits = locks.get(id) ?? []
    const holders = waits.flatMap(({ ahead }) => ahead.flatMap(({ objectId, held }) => (held ? objectId : [])))
    return [...decide(holders, undecided), ...waits.map(lock)]
  }
  if (type === null || workState === null || !awaitsAgent({ state: workState, leaseUntil }, inputs.now)) return []
  const connected = isServed({ type, target: null, projectId })
  const message = connected
    ? 'A gadget runner has to take it.'
    : 'No gadget runner was heard of within the last minute.'
  return [agentBlocker(type, connected, `${workState === WORK_STATE.CLAIMED ? 'Its runner is lost. ' : ''}${message}`)]
}

/** Jobs of a task that wait for the same runner say the same. */
function unique<Blocker extends OperationsBlocker>(blockers: readonly Blocker[]): readonly Blocker[] {
  const same = Map.groupBy(blockers, ({ reason, message }) => `${reason} ${message}`)
  return [...same.values()].flatMap(([first]) => first ?? [])
}

/** The job may be of another project, so its name is not told. */
const decide = (ids: readonly string[], undecided: ReadonlySet<string>): readonly OperationsBlocker[] =>
  [...new Set(ids)]
    .filter((id) => undecided.has(id))
    .map((objectId) => ({
      reason: 'DECISION',
      message: 'It waits for a job that could not be undone: a person must decide about that one.',
      objectId,
    }))

const dependency = ({ id, name, phase }: Waiting['dependsOn'][number]): OperationsBlocker => ({
  reason: 'DEPENDENCY',
  message: `The job ${name} comes first; it is ${phase}.`,
  objectId: id,
})

function lock({ resource, mode, position, ahead }: LockWait): OperationsBlocker {
  const of = (held: boolean) => ahead.filter((one) => one.held === held).map(({ objectId }) => objectId)
  const message = `${resource} is wanted ${mode === 'SHARED' ? 'together with others' : 'alone'}; its place in the queue is ${position}.`
  return { reason: 'LOCK', message, resource, mode, position, holderIds: of(true), waiterIds: of(false) }
}
