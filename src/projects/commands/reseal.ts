import type { RefusalOf } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { RIGHTS, requireRight } from '../../core/rights.ts'
import { refuse } from '../../families/access.ts'
import { countByKey, type Resealed, reseal } from '../../store/reseal.ts'
import type { ProjectParts } from './parts.ts'

/** A key that seals secrets: one of the server's, or one that some secrets are sealed with. */
export interface SealingKey {
  readonly id: string
  readonly isNewest: boolean
  /** False: the server does not have it, and what it has sealed does not open. */
  readonly isKnown: boolean
  /** Number of secrets of projects, copies of events and credentials of targets that are sealed with it. */
  readonly count: number
}
export interface ResealedSecrets extends Resealed {
  readonly keys: readonly SealingKey[]
}

/** A request takes about a second. */
const MOST = 1_000

/** Reseals secrets of all projects with the newest key, or as many as one request may. */
export async function resealSecrets(
  { pool, sealing }: Pick<ProjectParts, 'pool' | 'sealing'>,
  viewer: Viewer,
): Promise<Outcome<ResealedSecrets, RefusalOf<'ForbiddenError'>>> {
  const refused = requireRight(viewer, RIGHTS.resealSecrets)
  if (refused) return refuse(refused)
  const resealed = await reseal(pool, sealing, MOST)
  const used = new Map((await countByKey(pool)).map(({ keyId, count }) => [keyId, count]))
  const [newest] = sealing.keyIds
  const keys = [...new Set([...sealing.keyIds, ...used.keys()])].map((id) => ({
    id,
    isNewest: id === newest,
    isKnown: sealing.keyIds.includes(id),
    count: used.get(id) ?? 0,
  }))
  return { ok: true, ...resealed, keys }
}
