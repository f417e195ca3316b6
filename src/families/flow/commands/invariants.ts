import { canRead } from '../../../core/can-read.ts'
import { forbidden, invalidInput, type RefusalOf, type RefusalType } from '../../../core/errors.ts'
import type { CommonRefusal, Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { findProjectId } from '../../../store/projects.ts'
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
import { invariantRights } from '../rights.ts'
import { type InvariantInput, type InvariantSettings, normaliseInvariant } from '../rules/normalise-invariant.ts'
import { type InvariantRow, invariantRecords, lockWaiting, markInvariants } from '../store/invariants.ts'

type Result<T, Type extends RefusalType> = Outcome<T, RefusalOf<Type | CommonRefusal>>
interface Written {
  readonly objectId: string
}

export const INVARIANT: RecordKind<InvariantRow, InvariantSettings> = {
  // Each root that begins is compared with all of them.
  ...{ noun: 'invariant', max: 20, rights: invariantRights, records: invariantRecords },
}

export interface CreateInvariant extends InvariantInput, CreateRecord {}
/** Jobs that have begun continue. */
async function createInvariant(
  parts: RecordParts,
  viewer: Viewer,
  input: CreateInvariant,
): Promise<Result<Written, 'InvalidInputError' | 'ConflictError' | 'LimitError'>> {
  const problems = new Problems()
  checkName(input, problems)
  const judged = await judge(parts, viewer, input, problems)
  if (!judged.ok) return judged
  return await createRecord(parts, viewer, INVARIANT, { mutation: 'createInvariant', input }, judged.wanted)
}

export interface UpdateInvariant extends InvariantInput, UpdateRecord {}
async function updateInvariant(
  parts: RecordParts,
  viewer: Viewer,
  input: UpdateInvariant,
): Promise<Result<Written, 'InvalidInputError' | 'NotFoundError' | 'ConflictError'>> {
  const judged = await judge(parts, viewer, input, new Problems())
  return judged.ok ? await updateRecord(parts, viewer, INVARIANT, input, judged.wanted) : judged
}

interface Judged {
  wanted(project: LockedProject): Outcome<WantedRecord<InvariantSettings>, RefusalOf<'InvalidInputError'>>
}
/** Its author must be able to read the other project, since the jobs that wait show what has succeeded there. */
async function judge(
  { pool }: RecordParts,
  viewer: Viewer,
  input: InvariantInput,
  problems: Problems,
): Promise<Outcome<Judged, RefusalOf<'InvalidInputError' | 'ForbiddenError'>>> {
  const settings = normaliseInvariant(input, problems)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const { project } = input.after
  const afterProjectId = await findProjectId(pool, project)
  if (afterProjectId === null || !canRead(viewer, { projectId: afterProjectId }))
    return refuse(forbidden(`You have no access to a project ${project}.`))
  return {
    ok: true,
    wanted: ({ projectId }) =>
      afterProjectId === projectId
        ? refuse(invalidInput([{ path: 'input.after.project', message: 'must be another project' }]))
        : { ok: true, settings: { ...settings, afterProjectId }, also: changed },
  }
}

async function changed(project: LockedProject, { id }: { readonly id: string }): Promise<void> {
  const { client, projectId } = project
  await project.wake(await lockWaiting(client, id), 'invariant')
  await markInvariants(client, projectId)
}

/** The jobs that wait for it begin, unless they wait for another one. */
const deleteInvariant = (
  parts: RecordParts,
  viewer: Viewer,
  { id }: { readonly id: string },
): Promise<Result<{ readonly record: InvariantRow }, 'NotFoundError'>> =>
  onRecord(
    parts,
    viewer,
    INVARIANT,
    { id, right: invariantRights.delete },
    async (project, record): Promise<Result<{ readonly record: InvariantRow }, never>> => {
      const waiting = await lockWaiting(project.client, id)
      await invariantRecords.remove(project.client, id)
      await project.wake(waiting, 'invariant')
      await markInvariants(project.client, project.projectId)
      return { ok: true, record }
    },
  )

export const invariantCommands = {
  createInvariant: command(createInvariant, ['ConflictError', 'LimitError']),
  updateInvariant: command(updateInvariant, ['NotFoundError', 'ConflictError']),
  deleteInvariant: command(deleteInvariant, ['NotFoundError']),
}
export type InvariantCommands = ReturnType<typeof bindInvariants>
export const bindInvariants = ({ pool, trees, system }: FamilyParts) =>
  bindCommands({ trees, system, pool }, invariantCommands)
