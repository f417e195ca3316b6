import { randomUUID } from 'node:crypto'
import { badRequest, HttpError } from '../lib/http.mjs'

/** A bank that takes any card, up to a limit: `POST /charges` with `{orderId, cents}`. No money moves. */
export function createService({ limitCents = '100000' }) {
  const charges = new Map()
  return ({ method, path, body }) => {
    if (method === 'GET' && path === '/charges') return { count: charges.size }
    if (method !== 'POST' || path !== '/charges') return undefined
    const { orderId, cents } = body ?? {}
    if (typeof orderId !== 'string' || !Number.isInteger(cents) || cents <= 0) throw badRequest('This is no charge.')
    if (cents > Number(limitCents)) throw new HttpError(402, 'The card was declined.')
    // The same order is charged once, however often it is asked.
    const charge = charges.get(orderId) ?? { id: randomUUID(), orderId, cents, state: 'PAID' }
    charges.set(orderId, charge)
    return charge
  }
}
