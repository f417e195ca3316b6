import type { Client } from './client.ts'
import { array, bigint, bytea, text, uuid } from './column-types.ts'
import { NONCE_END, type Sealing } from './sealing.ts'
import { type StatementRow, statement } from './statement.ts'
import * as table from './tables.ts'

/** Seals with the newest key what older keys have sealed: secrets of projects, and their copies of events. */

/** The id of a key in a sealed text. */
const KEY_ID = `encode(substring(sealed from 2 for 4), 'hex')`
/** One has up to 64 KiB. */
const BATCH = 50

const COUNT_BY_KEY = statement({
  text: `select ${KEY_ID} as "keyId", count(*) as count
      from (select sealed from secret union all select sealed from event_secret) as every group by 1 order by 1`,
  row: { keyId: text, count: bigint },
})
export type KeyUse = StatementRow<typeof COUNT_BY_KEY>

/** Number of sealed texts by key id, with the ids of foreign keys. */
export const countByKey = async (client: Client): Promise<readonly KeyUse[]> =>
  (await COUNT_BY_KEY.query(client, [])).rows

const SEALED = {
  ownerId: uuid,
  name: table.secret.name,
  projectId: table.object.projectId,
  sealed: table.secret.sealed,
}
const AFTER = [uuid, text, array(text)] as const

const NEXT_OF_PROJECTS = statement({
  text: `select project_id as "ownerId", name, project_id as "projectId", sealed from secret
      where (project_id, name) > ($1, $2) and ${KEY_ID} = any($3) order by project_id, name limit ${BATCH}`,
  params: AFTER,
  row: SEALED,
})
const NEXT_OF_EVENTS = statement({
  text: `select event_id as "ownerId", e.name, o.project_id as "projectId", sealed
      from event_secret e join object o on o.id = e.event_id
      where (event_id, e.name) > ($1, $2) and ${KEY_ID} = any($3) order by event_id, e.name limit ${BATCH}`,
  params: AFTER,
  row: SEALED,
})

/**
 * Replaces what is still the text that was read: its nonce, which no other has, is the same. A row that somebody else has
 * locked is left for another time, so that nobody waits for a batch, and no two batches for each other.
 */
const replaceIn = (name: 'secret' | 'event_secret', owner: 'project_id' | 'event_id') =>
  statement({
    text: `with unchanged as (
        select s.${owner}, s.name, new.sealed from ${name} s
        join unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[]) as new(owner_id, name, start, sealed)
          on s.${owner} = new.owner_id and s.name = new.name and substring(s.sealed from 1 for ${NONCE_END}) = new.start
        for update of s skip locked)
      update ${name} s set sealed = unchanged.sealed from unchanged
      where s.${owner} = unchanged.${owner} and s.name = unchanged.name`,
    params: [array(uuid), array(text), array(bytea), array(bytea)],
  })

const PLACES = [
  { next: NEXT_OF_PROJECTS, replace: replaceIn('secret', 'project_id') },
  { next: NEXT_OF_EVENTS, replace: replaceIn('event_secret', 'event_id') },
] as const

export interface Resealed {
  readonly resealed: number
  /** False: there may be more than the bound. */
  readonly isComplete: boolean
}

/**
 * Reseals up to about `most` texts, in statements that take milliseconds each. It may be repeated, run concurrently,
 * and stop anywhere. Texts that no key opens are left as they are.
 */
export async function reseal(
  client: Client,
  sealing: Pick<Sealing, 'keyIds' | 'open' | 'seal'>,
  most: number,
): Promise<Resealed> {
  const [, ...olderKeys] = sealing.keyIds
  let resealed = 0
  for (const place of PLACES) {
    let { ownerId, name }: Place = FIRST
    for (;;) {
      if (resealed >= most) return { resealed, isComplete: false }
      const { rows } = await place.next.query(client, [ownerId, name, olderKeys])
      const last = rows.at(-1)
      if (!last) break
      resealed += await replaceEach(client, place.replace, rows, sealing)
      ;({ ownerId, name } = last)
    }
  }
  return { resealed, isComplete: true }
}

type Place = Pick<StatementRow<typeof NEXT_OF_PROJECTS>, 'ownerId' | 'name'>
const FIRST: Place = { ownerId: '00000000-0000-0000-0000-000000000000', name: '' }

async function replaceEach(
  client: Client,
  replace: ReturnType<typeof replaceIn>,
  rows: readonly StatementRow<typeof NEXT_OF_PROJECTS>[],
  { open, seal }: Pick<Sealing, 'open' | 'seal'>,
): Promise<number> {
  const replaced = rows.flatMap((row) => {
    const value = open(row, row.sealed)
    return value === null ? [] : [{ ...row, start: row.sealed.subarray(0, NONCE_END), sealed: seal(row, value) }]
  })
  const { rowCount } = await replace.query(client, [
    replaced.map(({ ownerId }) => ownerId),
    replaced.map(({ name }) => name),
    replaced.map(({ start }) => start),
    replaced.map(({ sealed }) => sealed),
  ])
  return rowCount ?? 0
}
