import { createHash } from 'node:crypto'
import type { Node } from '../../../core/tree.ts'
import { FENCE_SECRET_BYTES, hashOf, makeFence, sameHash } from '../../../store/fence.ts'
import { cloudletDetails } from '../rules/details.ts'
import { bytesOf, type FenceParts } from '../rules/requests.ts'
import type { Session } from '../rules/spec.ts'

/**
 * Fences of CRMs are derived from the salt of their session, so that a CRM that reconnects under its epoch gets the same
 * ones. They identify work and do not authorise; the token does.
 */

function secretOf(...parts: readonly (string | number)[]): Uint8Array {
  return createHash('sha256').update(parts.join(' ')).digest().subarray(0, FENCE_SECRET_BYTES)
}

export function requestFence({ salt, objectId, operationId, attempt }: FenceParts) {
  const secret = secretOf(salt, objectId, operationId, attempt)
  return { fence: makeFence(objectId, secret), hash: hashOf(secret) }
}

/** The fence of the session itself, which its CRM renews. */
export function sessionFence(salt: string, cloudletId: string) {
  const secret = secretOf(salt, cloudletId)
  return { fence: makeFence(cloudletId, secret), hash: hashOf(secret) }
}

export const sessionByHash = (cloudlet: Node, hash: Buffer, principalId: string): Session | null =>
  cloudletDetails(cloudlet).sessions.find(
    (session) => session.principalId === principalId && sameHash(bytesOf(session.fenceHash), hash),
  ) ?? null
