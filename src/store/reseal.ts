import type { Client } from './client.ts'
import { array, bigint, boolean, bytea, required, text, uuid } from './column-types.ts'
import { hookSecretPlace } from './hooks.ts'
import { NONCE_END, type Sealing, type SecretPlace } from './sealing.ts'
import { type StatementRow, statement } from './statement.ts'
import * as table from './tables.ts'
import { sealedFor } from './targets.ts'

/** Seals with the newest key what older keys have sealed: secrets of projects, their copies of events, credentials of targets, secrets of hooks. */

/** The id of a key in a sealed text. */
const KEY_ID = `encode(substring(sealed from 2 for 4), 'hex')`
/** One has up to 64 KiB, and credentials of a target up to 256. */
const BATCH = 50
const TARGETS = 10

const countIn = (sources: readonly string[]) =>
  statement({
    text: `select ${KEY_ID} as "keyId", count(*) as count
      from (${sources.map((source) => `select sealed from ${source}`).join(' union all ')}) as every group by 1 order by 1`,
    row: { keyId: text, count: bigint },
  })
const SECRETS = ['secret', 'event_secret']
const TARGETS_SEALED = 'target where sealed is not null'
const COUNT_BY_KEY = countIn([...SECRETS, TARGETS_SEALED, 'hook_secret'])
const COUNT_WITHOUT_HOOKS = countIn([...SECRETS, TARGETS_SEALED])
const COUNT_WITHOUT_TARGETS = countIn(SECRETS)
const THERE = statement({
  text: `select to_regclass('target') is not null as targets, to_regclass('hook_secret') is not null as hooks`,
  row: { targets: boolean, hooks: boolean },
})
export type KeyUse = StatementRow<typeof COUNT_BY_KEY>

/** Number of sealed texts by key id, with the ids of foreign keys. A backup may be of a database that has no targets or no hooks yet. */
export async function countByKey(client: Client): Promise<readonly KeyUse[]> {
  const { rows } = await THERE.query(client, [])
  const { targets, hooks } = rows[0] ?? { targets: false, hooks: false }
  return (
    await (hooks && targets ? COUNT_BY_KEY : targets ? COUNT_WITHOUT_HOOKS : COUNT_WITHOUT_TARGETS).query(client, [])
  ).rows
}

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

const NEXT_OF_TARGETS = statement({
  text: `select project_id as "ownerId", name, project_id as "projectId", sealed from target
      where (project_id, name) > ($1, $2) and ${KEY_ID} = any($3) order by project_id, name limit ${TARGETS}`,
  params: AFTER,
  row: { ...SEALED, sealed: required(table.target.sealed) },
})

const NEXT_OF_HOOKS = statement({
  text: `select s.hook_id as "ownerId", s.name, h.project_id as "projectId", s.sealed
      from hook_secret s join hook h on h.id = s.hook_id
      where (s.hook_id, s.name) > ($1, $2) and ${KEY_ID} = any($3) order by s.hook_id, s.name limit ${BATCH}`,
  params: AFTER,
  row: SEALED,
})

/**
 * Replaces what is still the text that was read: its nonce, which no other has, is the same. A row that somebody else has
 * locked is left for another time, so that nobody waits for a batch, and no two batches for each other.
 */
const replaceIn = (
  name: 'secret' | 'event_secret' | 'target' | 'hook_secret',
  owner: 'project_id' | 'event_id' | 'hook_id',
) =>
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

const itself = (row: SecretPlace): SecretPlace => row
const PLACES = [
  { next: NEXT_OF_PROJECTS, replace: replaceIn('secret', 'project_id'), placeOf: itself },
  { next: NEXT_OF_EVENTS, replace: replaceIn('event_secret', 'event_id'), placeOf: itself },
  { next: NEXT_OF_TARGETS, replace: replaceIn('target', 'project_id'), placeOf: sealedFor },
  { next: NEXT_OF_HOOKS, replace: replaceIn('hook_secret', 'hook_id'), placeOf: hookSecretPlace },
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
      resealed += await replaceEach(client, place, rows, sealing)
      ;({ ownerId, name } = last)
    }
  }
  return { resealed, isComplete: true }
}

type Place = Pick<StatementRow<typeof NEXT_OF_PROJECTS>, 'ownerId' | 'name'>
const FIRST: Place = { ownerId: '00000000-0000-0000-0000-000000000000', name: '' }

async function replaceEach(
  client: Client,
  { replace, placeOf }: Pick<(typeof PLACES)[number], 'replace' | 'placeOf'>,
  rows: readonly StatementRow<typeof NEXT_OF_PROJECTS>[],
  { open, seal }: Pick<Sealing, 'open' | 'seal'>,
): Promise<number> {
  const replaced = rows.flatMap((row) => {
    const value = open(placeOf(row), row.sealed)
    return value === null
      ? []
      : [{ ...row, start: row.sealed.subarray(0, NONCE_END), sealed: seal(placeOf(row), value) }]
  })
  const { rowCount } = await replace.query(client, [
    replaced.map(({ ownerId }) => ownerId),
    replaced.map(({ name }) => name),
    replaced.map(({ start }) => start),
    replaced.map(({ sealed }) => sealed),
  ])
  return rowCount ?? 0
}
