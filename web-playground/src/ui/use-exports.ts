import { useEffect, useRef, useState } from 'react'
import { EXPORTS } from '../data/documents.ts'
import type { Row } from '../model/object.ts'
import { useSession } from './session-context.ts'

/** Exports of finished installations, by id: read once for each revision. */
export function useExports(rows: readonly Row[]): ReadonlyMap<string, unknown> {
  const { client } = useSession()
  const [read, setRead] = useState<ReadonlyMap<string, unknown>>(new Map())
  const asked = useRef(new Map<string, number>())
  const wanted = rows.filter(({ id, finished, revision }) => finished && asked.current.get(id) !== revision)
  const key = wanted.map(({ id, revision }) => `${id} ${revision}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says what is wanted
  useEffect(() => {
    if (wanted.length === 0) return
    for (const { id, revision } of wanted) asked.current.set(id, revision)
    const take = async (): Promise<void> => {
      const { nodes } = await client.query(EXPORTS, { ids: wanted.map(({ id }) => id) })
      const exports = nodes.flatMap((node) => (node?.id ? [[node.id, node.exports] as const] : []))
      setRead((now) => new Map([...now, ...exports]))
    }
    take().catch(() => {
      for (const { id } of wanted) asked.current.delete(id)
    })
  }, [client, key])
  return read
}
