import { hash, timingSafeEqual } from 'node:crypto'

/** A fence names its object and carries 128 random bits; the store keeps only their hash. Opaque to agents. */
const ID_BYTES = 16
const SECRET_BYTES = 16

export function makeFence(objectId: string, secret: Uint8Array): string {
  return Buffer.concat([Buffer.from(objectId.replaceAll('-', ''), 'hex'), secret]).toString('base64url')
}
export const FENCE_SECRET_BYTES = SECRET_BYTES

export interface OpenedFence {
  readonly objectId: string
  readonly hash: Buffer
}

/** Null: not a fence of ours. */
export function openFence(fence: string): OpenedFence | null {
  const bytes = Buffer.from(fence, 'base64url')
  if (bytes.length !== ID_BYTES + SECRET_BYTES) return null
  const hex = bytes.toString('hex', 0, ID_BYTES)
  const objectId = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  return { objectId, hash: hashOf(bytes.subarray(ID_BYTES)) }
}

export const hashOf = (secret: Uint8Array): Buffer => hash('sha256', secret, 'buffer')
export const sameHash = (a: Buffer | null, b: Buffer): boolean =>
  a !== null && a.length === b.length && timingSafeEqual(a, b)
