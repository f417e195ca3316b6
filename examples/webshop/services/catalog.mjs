import { callJson, getJson } from '../lib/http.mjs'

const TTL_MS = 2_000

/** Lists the products for sale, from the cache or from the database: `GET /products`. */
export function createService({ database, cache }) {
  async function products() {
    const cached = await getJson(`${cache}/entries/products`)
    if (cached) return cached.value
    const rows = await getJson(`${database}/keys?prefix=product:`)
    const value = rows.map((row) => row.value).sort((a, b) => a.position - b.position)
    await callJson('PUT', `${cache}/entries/products`, { value, ttlMs: TTL_MS })
    return value
  }

  return async ({ method, path }) => {
    if (method !== 'GET') return undefined
    if (path === '/products') return await products()
    const id = /^\/products\/([\w-]{1,64})$/.exec(path)?.[1]
    return id === undefined ? undefined : (await products()).find((product) => product.id === id)
  }
}
