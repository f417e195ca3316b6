import { type FieldProblem, invalidInput, notFound, type RefusalOf, type RefusalType } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { Problems } from '../../core/problems.ts'
import { RIGHTS } from '../../core/rights.ts'
import { refuse } from '../../families/access.ts'
import type { LockedProject } from '../../families/family.ts'
import { SEALED_OVERHEAD } from '../../store/sealing.ts'
import { measureSecrets, removeSecret, writeSecret } from '../../store/secrets.ts'
import { bytesOf, checkText, checkVariable } from '../rules/names.ts'
import { changeProject } from './access.ts'
import type { ProjectParts } from './parts.ts'

/** Secrets of a project: written, never read back, and in no error. */

export interface SecretKey {
  readonly project: string
  readonly name: string
}
interface WrittenSecret {
  readonly projectId: string
  readonly name: string
}
type SecretSet<Type extends RefusalType> = Outcome<WrittenSecret & { readonly updatedAt: Date }, RefusalOf<Type>>

/** Bounds, since every event has a copy of all secrets and every workload gets them. */
export const SECRET_LIMITS = { count: 256, bytes: 512 * 1024 } as const

export async function setSecret(
  parts: ProjectParts,
  viewer: Viewer,
  { project, name, value }: SecretKey & { readonly value: string },
): Promise<SecretSet<'InvalidInputError' | 'NotFoundError' | 'LimitError' | 'ForbiddenError'>> {
  const problems = problemsOf(name, value)
  const access = { right: RIGHTS.setSecret, project }
  return changeProject(
    parts,
    viewer,
    access,
    async (locked): Promise<SecretSet<'InvalidInputError' | 'LimitError'>> => {
      if (problems.length > 0) return refuse(invalidInput(problems))
      if (!parts.sealing.canSeal) return refuse(NO_KEY)
      const tooMany = await beyondLimits(locked, name, value)
      if (tooMany) return refuse(tooMany)
      const { client, projectId, now } = locked
      const sealed = parts.sealing.seal({ projectId, name }, value)
      await writeSecret(client, { projectId, name, sealed, updatedAt: now })
      return { ok: true, projectId, name, updatedAt: now }
    },
  )
}

export const deleteSecret = (
  parts: ProjectParts,
  viewer: Viewer,
  { project, name }: SecretKey,
): Promise<Outcome<WrittenSecret, RefusalOf<'InvalidInputError' | 'NotFoundError' | 'ForbiddenError'>>> =>
  changeProject(
    parts,
    viewer,
    { right: RIGHTS.deleteSecret, project },
    async ({ client, projectId }): Promise<Outcome<WrittenSecret, RefusalOf<'NotFoundError'>>> =>
      (await removeSecret(client, { projectId, name }))
        ? { ok: true, projectId, name }
        : refuse(notFound(null, 'secret', name)),
  )

function problemsOf(name: string, value: string): readonly FieldProblem[] {
  const problems = new Problems()
  checkVariable(name, 'input.name', problems)
  checkText(value, 'input.value', problems)
  if (value === '') problems.add('input.value', 'must not be empty')
  return problems.found
}

const NO_KEY = invalidInput([
  {
    path: 'input.value',
    message: 'cannot be sealed: set PHASELINE_SECRET_KEY to 32 random bytes in base64, and start the server again',
  },
])

async function beyondLimits(
  { client, projectId }: Pick<LockedProject, 'client' | 'projectId'>,
  name: string,
  value: string,
): Promise<RefusalOf<'LimitError'> | null> {
  const others = await measureSecrets(client, { projectId, except: name })
  if (others.count + 1 > SECRET_LIMITS.count) {
    const message = `A project may have at most ${SECRET_LIMITS.count} secrets.`
    return { type: 'LimitError', message, limit: SECRET_LIMITS.count }
  }
  const bytes = others.sealedBytes - others.count * SEALED_OVERHEAD + bytesOf(value)
  if (bytes <= SECRET_LIMITS.bytes) return null
  const message = `All secrets of a project may have at most ${SECRET_LIMITS.bytes} bytes.`
  return { type: 'LimitError', message, limit: SECRET_LIMITS.bytes }
}
