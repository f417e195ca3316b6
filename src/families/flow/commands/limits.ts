import { invalidInput, type RefusalOf, type RefusalType } from '../../../core/errors.ts'
import type { CommonRefusal, Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { requireRight } from '../../../core/rights.ts'
import { limitChanged, lockSlots, wakeWaitingFor } from '../../../store/limit-tickets.ts'
import { refuse } from '../../access.ts'
import { bindCommands, command } from '../../command.ts'
import type { FamilyParts } from '../../define-family.ts'
import type { LockedProject } from '../../family.ts'
import {
  type CreateRecord,
  checkName,
  createRecord,
  onRecord,
  type RecordKind,
  type RecordParts,
  type UpdateRecord,
  updateRecord,
  type WantedRecord,
} from '../../project-records.ts'
import { rights } from '../rights.ts'
import {
  type LimitInput,
  type LimitSettings,
  normaliseLimit,
  normaliseOverride,
  type OverrideInput,
} from '../rules/normalise-limit.ts'
import { countOverrides, endOverride, type LimitRow, limitRecords, writeOverride, writePause } from '../store/limits.ts'

type Result<T, Type extends RefusalType> = Outcome<T, RefusalOf<Type | CommonRefusal>>
interface Written {
  readonly objectId: string
}

export const LIMIT: RecordKind<LimitRow, LimitSettings> = { noun: 'limit', max: 1_000, rights, records: limitRecords }

export interface CreateLimit extends LimitInput, CreateRecord {}
export async function createLimit(
  parts: RecordParts,
  viewer: Viewer,
  input: CreateLimit,
): Promise<Result<Written, 'InvalidInputError' | 'ConflictError' | 'LimitError'>> {
  const problems = new Problems()
  checkName(input, problems)
  const settings = normaliseLimit(input, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return await createRecord(parts, viewer, LIMIT, { mutation: 'createLimit', input }, () =>
    wanted(viewer, settings, settings.isShared),
  )
}

export interface UpdateLimit extends LimitInput, UpdateRecord {}
/** A lower bound ends nothing that runs. */
export async function updateLimit(
  parts: RecordParts,
  viewer: Viewer,
  input: UpdateLimit,
): Promise<Result<Written, 'InvalidInputError' | 'NotFoundError' | 'ConflictError'>> {
  const problems = new Problems()
  const settings = normaliseLimit(input, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  return await updateRecord(parts, viewer, LIMIT, input, (_, { isShared }) => {
    const judged = wanted(viewer, settings, settings.isShared !== isShared)
    return judged.ok ? { ...judged, also: changed } : judged
  })
}

function wanted(
  viewer: Viewer,
  settings: LimitSettings,
  takesShare: boolean,
): Outcome<WantedRecord<LimitSettings>, RefusalOf<'ForbiddenError'>> {
  const forbidden = takesShare ? requireRight(viewer, rights.share) : null
  return forbidden ? refuse(forbidden) : { ok: true, settings }
}

const changed = ({ client, now }: LockedProject, { id }: { readonly id: string }): Promise<void> =>
  limitChanged(client, id, now)

export interface OverrideLimit extends OverrideInput {
  readonly id: string
}
/** Other bounds of a key for a time; an older override of it ends. */
export async function overrideLimit(
  parts: RecordParts,
  viewer: Viewer,
  { id, ...input }: OverrideLimit,
): Promise<Result<Written, 'InvalidInputError' | 'NotFoundError' | 'LimitError'>> {
  const problems = new Problems()
  const { key, override } = normaliseOverride(input, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const access = { id, right: rights.override }
  return await onRecord(parts, viewer, LIMIT, access, async (project): Promise<Result<Written, 'LimitError'>> => {
    const { client, now } = project
    if (override && (await countOverrides(client, id, key, now)) >= MAX_OVERRIDES)
      return refuse({
        ...{ type: 'LimitError', limit: MAX_OVERRIDES },
        message: `A limit may have at most ${MAX_OVERRIDES} overrides.`,
      })
    if (override) {
      const { ttlMs, ...bounds } = override
      await writeOverride(client, { ...bounds, limitId: id, until: new Date(now.getTime() + ttlMs), by: viewer.name })
    } else await endOverride(client, id, key)
    await changed(project, { id })
    return { ok: true, objectId: id }
  })
}
const MAX_OVERRIDES = 100

export interface PauseLimit {
  readonly id: string
  readonly reason?: string | null
}
const setPause =
  (isPaused: boolean) =>
  (parts: RecordParts, viewer: Viewer, { id, reason = null }: PauseLimit): Promise<Result<Written, 'NotFoundError'>> =>
    onRecord(
      parts,
      viewer,
      LIMIT,
      { id, right: rights.pause },
      async (project, { pause }): Promise<Result<Written, never>> => {
        const { client, now } = project
        const at = pause?.at ?? now.toISOString()
        await lockSlots(client)
        await writePause(client, id, isPaused ? { at, by: viewer.name, reason } : null)
        if (!isPaused) await changed(project, { id })
        return { ok: true, objectId: id }
      },
    )

/** Objects that are there ask for it no longer: those that wait start. */
export const deleteLimit = (
  parts: RecordParts,
  viewer: Viewer,
  { id }: { readonly id: string },
): Promise<Result<{ readonly record: LimitRow }, 'NotFoundError'>> =>
  onRecord(
    parts,
    viewer,
    LIMIT,
    { id, right: rights.delete },
    async ({ client }, record): Promise<Result<{ readonly record: LimitRow }, never>> => {
      await lockSlots(client)
      await wakeWaitingFor(client, id)
      await limitRecords.remove(client, id)
      return { ok: true, record }
    },
  )

export const flowCommands = {
  createLimit: command(createLimit, ['ConflictError', 'LimitError']),
  updateLimit: command(updateLimit, ['NotFoundError', 'ConflictError']),
  deleteLimit: command(deleteLimit, ['NotFoundError']),
  overrideLimit: command(overrideLimit, ['NotFoundError', 'LimitError']),
  pauseLimit: command(setPause(true), ['NotFoundError']),
  resumeLimit: command(setPause(false), ['NotFoundError']),
}
export type FlowCommands = ReturnType<typeof bindFlow>
export const bindFlow = ({ pool, trees, system }: FamilyParts) => bindCommands({ trees, system, pool }, flowCommands)
