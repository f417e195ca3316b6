import { invalidInput, type RefusalOf, type RefusalType } from '../../../core/errors.ts'
import type { CommonRefusal, Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { lockSlots, wakeNextOfLimits, wakeWaitingFor } from '../../../store/limit-tickets.ts'
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
} from '../../project-records.ts'
import { rights } from '../rights.ts'
import { type LimitInput, type LimitSettings, normaliseLimit } from '../rules/normalise-limit.ts'
import { LIMITS, type LimitRow } from '../store/limits.ts'

type Result<T, Type extends RefusalType> = Outcome<T, RefusalOf<Type | CommonRefusal>>
interface Written {
  readonly objectId: string
}

export const LIMIT: RecordKind<LimitRow, LimitSettings> = { noun: 'limit', max: 1_000, rights, records: LIMITS }

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
  return await createRecord(parts, viewer, LIMIT, { mutation: 'createLimit', input }, () => ({ ok: true, settings }))
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
  return await updateRecord(parts, viewer, LIMIT, input, () => ({ ok: true, settings, also: wakeNext }))
}

/** Under the lock of slots, so that the next one that asks, or ends, sees the new bounds. */
async function wakeNext({ client }: LockedProject): Promise<void> {
  await lockSlots(client)
  await wakeNextOfLimits(client)
}

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
      await LIMITS.remove(client, id)
      return { ok: true, record }
    },
  )

export const flowCommands = {
  createLimit: command(createLimit, ['ConflictError', 'LimitError']),
  updateLimit: command(updateLimit, ['NotFoundError', 'ConflictError']),
  deleteLimit: command(deleteLimit, ['NotFoundError']),
}
export type FlowCommands = ReturnType<typeof bindFlow>
export const bindFlow = ({ pool, trees, system }: FamilyParts) => bindCommands({ trees, system, pool }, flowCommands)
