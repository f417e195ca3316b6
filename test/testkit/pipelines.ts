import type { Refusal } from '../../src/core/errors.ts'
import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import type { Outcome } from '../../src/core/ports/outcome.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import type { ProjectInput } from '../../src/projects/rules/normalise-project.ts'
import type { WorkloadInput } from '../../src/projects/rules/normalise-workload.ts'
import { viewerOf } from './viewers.ts'
import { USER, type World } from './world.ts'

/** Events and their workloads said shortly, on a world whose clock only the test moves. */

export const RUNTIME: Viewer = viewerOf('AGENT', { name: 'runtime', actor: 'RUNTIME' })
export const TEMPLATE: WorkloadInput = { command: ['true'] }

export interface SeenWorkload {
  readonly id: string
  readonly rootId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly phase: Phase
  readonly code: string | null
  readonly exitCode: number | null
  readonly removeAt: Date | null
  readonly removedAt: Date | null
}

/** The result of a mutation; throws when it was refused. */
export async function accepted<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const result = await outcome
  if (!result.ok) throw new Error(result.refusal.message)
  return result
}
export async function refused<T>(outcome: Promise<Outcome<T>>): Promise<Refusal> {
  const result = await outcome
  if (result.ok) throw new Error('it was accepted')
  return result.refusal
}

export const workerViewer = (eventId: string): Viewer =>
  viewerOf('WORKER', { name: `worker of ${eventId}`, actor: 'WORKER', rootId: eventId })

export const addProject = (world: World, name: string, input: ProjectInput = {}) =>
  accepted(world.projects.createProject(USER, { name, workerTemplate: TEMPLATE, ...input }))

export interface NewEvent {
  readonly project?: string
  readonly source?: string
  readonly type?: string
  readonly qualifiers?: readonly { key: string; value: string }[]
  readonly labels?: readonly { key: string; value: string }[]
  readonly payload?: string
}
/** Ids of the events that it made. */
export async function addEvents(world: World, input: NewEvent): Promise<readonly string[]> {
  const { eventIds } = await accepted(world.pipelines.createEvent(USER, { source: 'test', type: 'push', ...input }))
  await world.settle()
  return eventIds
}
export async function addEvent(world: World, project: string, input: NewEvent = {}): Promise<string> {
  const [id] = await addEvents(world, { ...input, project })
  if (!id) throw new Error('there is no event')
  return id
}
export async function addJob(world: World, eventId: string, name: string, spec: WorkloadInput = TEMPLATE) {
  const { objectId } = await accepted(world.pipelines.createJob(workerViewer(eventId), { name, spec }))
  await world.settle()
  return objectId
}

/** The work that a runtime with this target gets; its lease is 30 s. */
export async function claimAt(world: World, instance = 'here', max = 500): Promise<readonly ClaimedItem[]> {
  const { agents } = world.engineHost
  const request = { instance, types: ['process'], targets: [instance], max, leaseMs: 30_000 }
  const { items } = await accepted(agents.claim(RUNTIME, request))
  await world.settle()
  return items
}
/** Claims all offered work and reports it RUNNING. */
export async function runAll(world: World, instance = 'here'): Promise<readonly ClaimedItem[]> {
  const items = await claimAt(world, instance)
  for (const { fence } of items.filter(({ action }) => action === 'START'))
    await sendReport(world, { fence, phase: 'RUNNING' })
  return items
}
/** True if the report changed a phase, false if not, or the type of the refusal. */
export const sendReport = (world: World, report: Report): Promise<boolean | string> => world.report(report, RUNTIME)

export const succeeded = { phase: 'SUCCEEDED', exports: { exitCode: 0, signal: null } } as const
export const failed = {
  phase: 'FAILED',
  exports: { exitCode: 3, signal: null },
  error: { code: 'EXIT_CODE', message: 'It exited with 3.', retryable: false },
} as const

/** The event, its worker and its jobs, by name; empty once they are gone. */
export async function treeOf(world: World, eventId: string): Promise<Readonly<Record<string, SeenWorkload>>> {
  const { rows } = await world.pool.query<SeenWorkload>(
    `select o.id, o.root_id as "rootId", o.kind, case o.kind when 'EVENT' then 'event' else o.name end as name, o.phase,
       s.error ->> 'code' as code, w.exit_code as "exitCode", w.remove_at as "removeAt", w.removed_at as "removedAt"
     from object o left join workload w on w.object_id = o.id left join object_status s on s.object_id = o.id
     where o.root_id = $1 order by o.id`,
    [eventId],
  )
  return Object.fromEntries(rows.map((row) => [row.name, row]))
}
/** Phases by name. */
export async function phasesOf(world: World, eventId: string): Promise<Readonly<Record<string, Phase>>> {
  return Object.fromEntries(Object.entries(await treeOf(world, eventId)).map(([name, { phase }]) => [name, phase]))
}
export async function phaseOf(world: World, eventId: string): Promise<Phase | undefined> {
  return (await phasesOf(world, eventId)).event
}
