import { badRequest, notFound } from '../lib/http.mjs'

/** Values that are forgotten: the oldest when there are too many, and each after its `ttlMs`. `/entries/<key>`. */
export function createService({ maxEntries = '1000' }) {
  const limit = Number(maxEntries)
  const entries = new Map()
  const counts = { hits: 0, misses: 0 }

  function read(key) {
    const entry = entries.get(key)
    const fresh = entry && (entry.until === null || entry.until > Date.now())
    counts[fresh ? 'hits' : 'misses'] += 1
    if (!fresh) throw notFound()
    return { value: entry.value }
  }

  return ({ method, path, body }) => {
    if (method === 'GET' && path === '/stats') return { ...counts, entries: entries.size }
    const key = /^\/entries\/([\w:.-]{1,200})$/.exec(path)?.[1]
    if (key === undefined) return undefined
    if (method === 'GET') return read(key)
    if (method === 'PUT') {
      if (body === undefined || !('value' in body)) throw badRequest('A value is missing.')
      entries.delete(key)
      entries.set(key, { value: body.value, until: body.ttlMs ? Date.now() + Number(body.ttlMs) : null })
      if (entries.size > limit) entries.delete(entries.keys().next().value)
    } else if (method === 'DELETE') entries.delete(key)
    else return undefined
    return { ok: true }
  }
}
