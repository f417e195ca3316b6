import type { Client } from '../../../store/client.ts'
import type { Sealing } from '../../../store/sealing.ts'
import { findTarget, sealedFor } from '../../../store/targets.ts'

/** Credentials in clear, for one answer to a claim: never stored, logged or cached. */
export interface TargetCredentials {
  readonly id: string
  readonly type: string
  readonly generation: number
  /** Null: there are none, or they do not open. */
  readonly secret: string | null
}

/** Null: there is no such target. */
export async function readTargetCredentials(
  client: Client,
  sealing: Pick<Sealing, 'open'>,
  target: { readonly projectId: string; readonly name: string },
): Promise<TargetCredentials | null> {
  const found = await findTarget(client, target.projectId, target.name)
  if (!found) return null
  const { id, type, generation, sealed } = found
  return { id, type, generation, secret: sealed && sealing.open(sealedFor(target), sealed) }
}
