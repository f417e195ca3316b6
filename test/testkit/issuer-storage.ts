import type { Adapter, AdapterPayload } from 'oidc-provider'

/** An issuer's state, in memory: it outlives the provider, which is made anew with each key. */
export class SharedStorage {
  readonly #rows = new Map<string, AdapterPayload>()

  adapterOf(model: string): Adapter {
    const rows = this.#rows
    const keyOf = (id: string): string => `${model}:${id}`
    const findBy = async (name: 'uid' | 'userCode', value: string): Promise<AdapterPayload | undefined> =>
      [...rows].find(([key, row]) => key.startsWith(`${model}:`) && row[name] === value)?.[1]
    return {
      upsert: async (id, payload) => void rows.set(keyOf(id), payload),
      find: async (id) => rows.get(keyOf(id)),
      findByUid: (uid) => findBy('uid', uid),
      findByUserCode: (code) => findBy('userCode', code),
      async consume(id) {
        const row = rows.get(keyOf(id))
        if (row) row.consumed = Math.floor(Date.now() / 1_000)
      },
      destroy: async (id) => void rows.delete(keyOf(id)),
      async revokeByGrantId(grantId) {
        for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key)
      },
    }
  }
}
