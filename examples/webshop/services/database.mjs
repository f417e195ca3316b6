import { readFile, rename, writeFile } from 'node:fs/promises'
import { badRequest, notFound } from '../lib/http.mjs'

const FILE = process.env.SERVICE_DATA ?? ''
const MAX_KEYS = 10_000

/** Keys and JSON values, kept in one file: `GET /keys?prefix=`, and GET, PUT, DELETE of `/keys/<key>`. */
export async function createService() {
  const values = new Map(Object.entries(JSON.parse(await readFile(FILE, 'utf8').catch(() => '{}'))))
  let writing = Promise.resolve()
  /** A write is answered when it is on the disk; those that wait share the next file. */
  const save = () => {
    writing = writing.then(async () => {
      await writeFile(`${FILE}.tmp`, JSON.stringify(Object.fromEntries(values)), { mode: 0o600 })
      await rename(`${FILE}.tmp`, FILE)
    })
    return writing
  }

  return async ({ method, path, query, body }) => {
    if (method === 'GET' && path === '/keys') {
      const prefix = query.get('prefix') ?? ''
      return [...values].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => ({ key, value }))
    }
    const key = /^\/keys\/([\w:.-]{1,200})$/.exec(path)?.[1]
    if (key === undefined) return undefined
    if (method === 'GET') {
      if (!values.has(key)) throw notFound()
      return { value: values.get(key) }
    }
    if (method === 'PUT') {
      if (body === undefined || (values.size >= MAX_KEYS && !values.has(key))) throw badRequest('No value, or no room.')
      values.set(key, body)
    } else if (method === 'DELETE') values.delete(key)
    else return undefined
    await save()
    return { ok: true }
  }
}
