import { setImmediate } from 'node:timers/promises'
import type { RefusalOf } from '../../../core/errors.ts'
import { generationMismatch, invalidInput, notFound } from '../../../core/errors.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { byKey, type Keyed } from '../../../store/idempotency.ts'
import { type CommandResult, findFor, onFound, onObject, refuse } from '../../access.ts'
import { rights } from '../rights.ts'
import { MAX_BACKFILLED, timesWithin } from '../rules/backfill.ts'
import { advance, details } from '../rules/decide-schedule.ts'
import type { Overlap } from '../rules/spec.ts'
import { endCancelled, type NewBackfill, openBackfill } from '../store/backfills.ts'
import { readSchedule } from '../store/firings.ts'
import { oldestKept } from '../store/kept.ts'
import type { AutomationParts } from './parts.ts'
import { refused } from './refused.ts'

export interface BackfillSchedule extends Keyed {
  readonly id: string
  readonly from: Date
  /** Left out or null: now, by the clock of the server. */
  readonly until?: Date | null
  readonly overlap?: Overlap | null
  readonly refire?: boolean | null
}
type Refusals = 'InvalidInputError' | 'NotFoundError' | 'ConflictError' | 'TransitionError' | 'ForbiddenError'

const wrong = (field: string, message: string): RefusalOf<'InvalidInputError'> =>
  invalidInput([{ path: `input.${field}`, message }])

/** Fires the times of a stretch that has passed. All of them are firings from the start, and the dispatcher starts them. */
export async function backfillSchedule(
  parts: AutomationParts,
  viewer: Viewer,
  input: BackfillSchedule,
): Promise<CommandResult<Refusals>> {
  const located = await findFor(parts.pool, viewer, rights.backfill, { id: input.id, what: 'schedule' })
  if (!located.ok) return located
  const now = parts.system.now()
  const { from: first } = input
  const last = input.until ?? now
  const overlap = input.overlap ?? 'QUEUE'
  const refire = input.refire ?? false
  if (overlap !== 'QUEUE' && overlap !== 'ALLOW')
    return refuse(wrong('overlap', 'must be QUEUE or ALLOW, since all its times have come'))
  if (first > now) return refuse(wrong('from', 'must not be in the future'))
  if (first > last) return refuse(wrong('until', 'must not be before from'))
  if (last > now) return refuse(wrong('until', 'must not be in the future'))
  const read = await readSchedule(parts.pool, input.id)
  if (!read) return refuse(notFound(input.id, 'schedule'))
  const times = await timesWithin(read.spec, { first, last }, () => setImmediate())
  if (!times) return refuse(wrong('from', `has more than ${MAX_BACKFILLED} times up to until: take less at once`))
  if (times.length === 0) return refuse(wrong('from', 'has no time up to until'))

  type Backfilled = CommandResult<Exclude<Refusals, 'ForbiddenError'>>
  const once = byKey('backfillSchedule', input)
  return await onFound(parts, viewer, located.found, { what: 'schedule', once }, async (tree): Promise<Backfilled> => {
    const { root, slice } = tree
    const { generation } = root.row
    if (generation !== read.generation) return refuse(generationMismatch(generation, read.generation))
    advance(root, slice, read.spec)
    const { phase } = root.row
    if (phase !== 'ACTIVE' && phase !== 'PAUSED') return refused(tree, viewer, 'ACTIVE')
    const open = await openBackfill(tree.client, root.row.id)
    if (open) return refuse(another(root.row.id))
    const oldest = refire ? null : await oldestKept(tree.client, root.row.id)
    if (oldest && first < oldest) return refuse(wrong('from', forgotten(oldest)))
    // A time that is still delayed fires by itself.
    const { due } = details(root)
    const passed = times.filter((time) => due === null || time < due)
    if (passed.length === 0) return refuse(wrong('from', 'has no time up to until'))
    const firings = passed.map((time) => ({ id: slice.newId(), due: time }))
    const backfill = { id: slice.newId(), scheduleId: root.row.id, first, last, overlap, refire, by: viewer.name }
    slice.effect('writeBackfill', { ...backfill, firings } satisfies NewBackfill)
    const stretch = `${first.toISOString()} to ${last.toISOString()}`
    const message = `${viewer.name} backfills ${passed.length} ${passed.length === 1 ? 'time' : 'times'}: ${stretch}.`
    slice.move(root, phase, { actor: 'USER', by: viewer, message })
    return { ok: true, objectId: root.row.id }
  })
}

const another = (objectId: string): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'ALREADY_EXISTS',
  message: 'It has a backfill that runs: wait for its end, or cancel it.',
  objectId,
})
const forgotten = (oldest: Date): string =>
  `is before the firings that are kept, so nobody knows which times have fired: begin at ${oldest.toISOString()}, or set refire`

/** Ends what a backfill has still to start. Its roots that have started run on. */
export const cancelBackfill = (
  parts: AutomationParts,
  viewer: Viewer,
  { id }: { readonly id: string },
): Promise<CommandResult<'InvalidInputError' | 'NotFoundError' | 'ForbiddenError'>> =>
  onObject(
    parts,
    viewer,
    { right: rights.backfill, id, what: 'schedule' },
    async ({ root, slice, client }): Promise<CommandResult<'NotFoundError'>> => {
      const open = await openBackfill(client, root.row.id)
      if (!open) return refuse(notFound(null, 'running backfill', `of the schedule ${root.row.name}`))
      const waiting = await endCancelled(client, open.id, viewer.name, slice.now)
      const message = `${viewer.name} cancels the backfill, ${waiting} of whose times were still to come.`
      // A schedule may have FINISHED meanwhile, and its phase says no more than that.
      if (root.row.phase !== 'FINISHED') slice.move(root, root.row.phase, { actor: 'USER', by: viewer, message })
      return { ok: true, objectId: root.row.id }
    },
  )
