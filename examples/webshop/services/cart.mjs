import { badRequest, callJson, getJson } from '../lib/http.mjs'

const TTL_MS = 24 * 60 * 60 * 1000
const MAX_ITEMS = 50

/** Carts by id, kept in the cache for a day: `GET /carts/<id>`, `PUT` with `{productId, quantity}`, `DELETE`. */
export function createService({ cache }) {
  return async ({ method, path, body }) => {
    const id = /^\/carts\/([\w-]{1,64})$/.exec(path)?.[1]
    if (id === undefined) return undefined
    const key = `${cache}/entries/cart:${id}`
    const items = (await getJson(key))?.value ?? {}
    if (method === 'GET') return { id, items }
    if (method === 'DELETE') {
      await callJson('DELETE', key)
      return { id, items: {} }
    }
    if (method !== 'PUT') return undefined
    const changed = { ...items, ...readItem(body) }
    const kept = Object.fromEntries(Object.entries(changed).filter(([, quantity]) => quantity > 0))
    if (Object.keys(kept).length > MAX_ITEMS) throw badRequest('The cart is full.')
    await callJson('PUT', key, { value: kept, ttlMs: TTL_MS })
    return { id, items: kept }
  }
}

function readItem({ productId, quantity } = {}) {
  const valid = /^[\w-]{1,64}$/.test(productId) && Number.isInteger(quantity) && quantity >= 0 && quantity <= 99
  if (!valid) throw badRequest('A productId and a quantity from 0 to 99 are needed.')
  return { [productId]: quantity }
}
