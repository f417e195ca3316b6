import type { Pool } from 'pg'
import { isDatabaseUnavailable } from '../../../core/database-unavailable.ts'
import { codeOf } from '../../../core/errors.ts'
import type { System } from '../../../core/ports/system.ts'
import { type Grant, requireRight } from '../../../core/rights.ts'
import type { FamilyServices } from '../../../graphql/context.ts'
import type { Resolution, Sandbox } from '../../../sandbox/index.ts'
import type { Client } from '../../../store/client.ts'
import { grantsOfEditors, viewerOnBehalf } from '../../on-behalf.ts'
import type { Trigger } from '../../trigger.ts'
import { decideFiring, type FiringRow, type OpenSchedule, previousFirings } from '../store/firings.ts'

/** A start that fails so often, and not for want of the database, is refused. */
const MAX_FAILURES = 8

export interface StartParts {
  readonly pool: Pool
  readonly system: System
  readonly sandbox: Sandbox
  readonly services: FamilyServices
  /** Counts of failed starts by firing. */
  readonly failures: Map<string, number>
}
export interface Start {
  readonly schedule: OpenSchedule
  readonly firing: FiringRow
}
interface Refused {
  readonly outcome: 'REFUSED' | 'FORBIDDEN'
  readonly reason: string
}
/** Null: it has started, and the firing is decided in the same transaction; or its backfill was cancelled. */
export type StartOutcome = Refused | { readonly error: unknown } | null

/**
 * Starts firings of schedules of one project, one of each schedule at most. Creations of roots share transactions of
 * the project, as commands do. One outcome for each, in order: none fails for another.
 */
export async function startFirings(
  parts: StartParts,
  client: Client,
  starts: readonly Start[],
): Promise<readonly StartOutcome[]> {
  const grants = await grantsOfEditors(
    parts.pool,
    starts.map(({ schedule }) => schedule),
  )
  const previous = await previousFirings(
    client,
    starts.map(({ firing }) => firing),
  )
  const ready = starts.map((start, i) =>
    prepare(parts, start, grants[i] ?? [], previous.get(start.schedule.id) ?? null),
  )
  const resolutions = resolveAll(parts, ready)
  return await Promise.all(
    ready.map(async (one): Promise<StartOutcome> => {
      if ('outcome' in one) return one
      try {
        return await run(parts, one, (await resolutions).get(one))
      } catch (error) {
        // Its backfill was cancelled meanwhile: the start was rolled back.
        return error instanceof DecidedAlready ? null : failed(parts, one.firing, error)
      }
    }),
  )
}

interface Ready extends Start {
  readonly trigger: Trigger
  readonly viewer: ReturnType<typeof viewerOnBehalf>
  readonly scope: Scope
}
interface Scope {
  readonly name: string
  readonly due: string
  readonly previous: string | null
  readonly count: number
}

function prepare(
  { services }: StartParts,
  { schedule, firing }: Start,
  grants: readonly Grant[],
  previous: Date | null,
): Ready | Refused {
  const { name, spec, projectId, editor, firedCount: count } = schedule
  const trigger = services.triggers[spec.run.trigger]
  if (!trigger) return { outcome: 'REFUSED', reason: `This server has no family with ${spec.run.trigger}.` }
  const viewer = viewerOnBehalf('schedule', schedule, grants, async (within, objectId) => {
    const decided = { outcome: 'FIRED', reason: null, startedId: objectId } as const
    if (!(await decideFiring(within as Client, firing.id, decided))) throw new DecidedAlready()
  })
  const missing = requireRight({ ...viewer, name: editor?.name ?? viewer.name }, trigger.right, projectId)
  if (missing) return { outcome: 'FORBIDDEN', reason: missing.message }
  const scope = { name, due: firing.due.toISOString(), previous: previous?.toISOString() ?? null, count }
  return { schedule, firing, trigger, viewer, scope }
}

async function resolveAll(
  { sandbox }: StartParts,
  found: readonly (Ready | Refused)[],
): Promise<ReadonlyMap<Ready, Resolution | undefined>> {
  const ready = found.filter((one) => 'trigger' in one)
  const jobs = ready.map(({ trigger, schedule: { spec }, scope }) => ({
    template: trigger.template(spec.run.input),
    scope: { schedule: scope },
  }))
  const resolved = jobs.length === 0 ? [] : await sandbox.resolve(jobs, ready[0]?.schedule.projectId)
  return new Map(ready.map((one, i) => [one, resolved[i]]))
}

async function run(
  { failures }: StartParts,
  { schedule, firing, trigger, viewer, scope }: Ready,
  resolved: Resolution | undefined,
): Promise<Refused | null> {
  // Then it is tried again.
  if (resolved?.ok === false && resolved.isTransient) throw new Error(resolved.message)
  if (!resolved?.ok) return { outcome: 'REFUSED', reason: resolved?.message ?? 'It could not be evaluated.' }
  const { input } = schedule.spec.run
  const call = { project: schedule.projectName, input, resolved: resolved.value, schedule: scope, hops: 0 }
  const done = await trigger.run(viewer, call)
  if (done.ok) {
    failures.delete(firing.id)
    return null
  }
  const { refusal } = done
  return {
    outcome: refusal.type === 'ForbiddenError' ? 'FORBIDDEN' : 'REFUSED',
    reason: `${codeOf(refusal)}: ${refusal.message}`,
  }
}

class DecidedAlready extends Error {}

/** One that always fails is refused in the end; before that it is tried again. */
function failed({ failures }: StartParts, { id }: FiringRow, error: unknown): StartOutcome {
  if (isDatabaseUnavailable(error)) return { error }
  const times = (failures.get(id) ?? 0) + 1
  if (times < MAX_FAILURES) failures.set(id, times)
  else failures.delete(id)
  if (times < MAX_FAILURES) return { error }
  const reason = `It could not be started: ${error instanceof Error ? error.message : String(error)}`
  return { outcome: 'REFUSED', reason }
}

/** Ends what a firing has started. One that cannot be cancelled ends by itself. */
export async function cancelStarted(
  { pool, services }: StartParts,
  schedule: OpenSchedule,
  { startedId }: FiringRow,
): Promise<void> {
  const trigger = services.triggers[schedule.spec.run.trigger]
  const [grants = []] = await grantsOfEditors(pool, [schedule])
  const viewer = viewerOnBehalf('schedule', schedule, grants)
  if (startedId !== null) await trigger?.cancel(viewer, startedId, `The schedule ${schedule.name} fires again.`)
}
