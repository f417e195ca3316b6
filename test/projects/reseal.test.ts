import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '../../src/logger.ts'
import { resealSecrets } from '../../src/projects/commands/reseal.ts'
import { warnOfUnknownKeys } from '../../src/start/warn-of-unknown-keys.ts'
import type { Client } from '../../src/store/client.ts'
import { countByKey, reseal } from '../../src/store/reseal.ts'
import { createSealing, type Sealing } from '../../src/store/sealing.ts'
import { writeSecret } from '../../src/store/secrets.ts'
import { findTarget, sealedFor, TARGETS } from '../../src/store/targets.ts'
import { viewerOf, viewerWith } from '../testkit/viewers.ts'
import { createWorld, USER, type World } from '../testkit/world.ts'

const [OLD, NEW, LOST] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const ADMIN = viewerOf('ADMIN')

let world: World
let projectId = ''
const sealingWith = (...keys: readonly Uint8Array[]): Sealing => createSealing(keys, world.clock)
const before = () => sealingWith(OLD)
const during = () => sealingWith(NEW, OLD)
const after = () => sealingWith(NEW)
const idOf = (key: Uint8Array): string => sealingWith(key).keyIds[0] ?? ''

beforeAll(async () => {
  world = await createWorld()
  const { rows } = await world.pool.query<{ id: string }>(`select id from project where name = 'default'`)
  projectId = rows[0]?.id ?? ''
})
afterAll(() => world[Symbol.asyncDispose]())

const set = (name: string, value: string, sealing: Sealing) => {
  const sealed = sealing.seal({ projectId, name }, value)
  return writeSecret(world.pool, { projectId, name, sealed, updatedAt: world.clock.now() })
}
const reset = async (values: Readonly<Record<string, string>>, sealing: Sealing) => {
  await world.pool.query('delete from event_secret')
  await world.pool.query('delete from secret')
  for (const [name, value] of Object.entries(values)) await set(name, value, sealing)
}
/** The opened value of every secret and every copy; null: it does not open. */
async function opened(sealing: Sealing): Promise<readonly (string | null)[]> {
  const { rows } = await world.pool.query<{ name: string; sealed: Buffer }>(
    'select name, sealed from secret union all select name, sealed from event_secret order by name',
  )
  return rows.map(({ name, sealed }) => sealing.open({ projectId, name }, sealed))
}
const createEvent = (key: string) =>
  world.pipelines.createEvent(USER, { project: 'default', source: 's', type: 't', idempotencyKey: key })

test('secrets and the copies of events move to the newest key, after which the old one can go', async () => {
  await world.projects.updateProject(USER, { name: 'default', workerTemplate: { command: ['true'] } })
  await reset({ A: 'a', B: 'ü' }, before())
  expect(await createEvent('copies')).toMatchObject({ ok: true })
  await set('C', 'c', during())
  const values = ['a', 'a', 'ü', 'ü', 'c']
  expect(await opened(after())).toEqual([null, null, null, null, 'c'])
  const resealed = await resealSecrets({ pool: world.pool, sealing: during() }, ADMIN)
  expect(resealed).toEqual({
    ok: true,
    resealed: 4,
    isComplete: true,
    keys: [
      { id: idOf(NEW), isNewest: true, isKnown: true, count: 5 },
      { id: idOf(OLD), isNewest: false, isKnown: true, count: 0 },
    ],
  })
  expect(await opened(after())).toEqual(values)
  expect(JSON.stringify(resealed)).not.toContain(NEW.toString('base64'))
  expect(await resealSecrets({ pool: world.pool, sealing: during() }, ADMIN)).toMatchObject({ resealed: 0 })
})

test('what was sealed with a key that is lost, or was changed, stays as it is and keeps nobody from going on', async () => {
  await reset({ A: 'a', B: 'b', D: 'd' }, before())
  await set('C', 'c', sealingWith(LOST))
  await world.pool.query(`update secret set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where name = 'B'`)
  const { rows } = await world.pool.query(`select sealed from secret where name in ('B', 'C') order by name`)
  expect(await reseal(world.pool, during(), 1_000)).toEqual({ resealed: 2, isComplete: true })
  expect(await opened(after())).toEqual(['a', null, null, 'd'])
  expect((await world.pool.query(`select sealed from secret where name in ('B', 'C') order by name`)).rows).toEqual(
    rows,
  )
  const left = new Map((await countByKey(world.pool)).map(({ keyId, count }) => [keyId, count]))
  expect(left).toEqual(
    new Map([
      [idOf(NEW), 2],
      [idOf(OLD), 1],
      [idOf(LOST), 1],
    ]),
  )
})

test('many are resealed in bounded steps, also by several at once', async () => {
  const names = Array.from({ length: 170 }, (_, i) => `S${i}`)
  await reset(Object.fromEntries(names.map((name) => [name, name])), before())
  const first = await reseal(world.pool, during(), 60)
  expect(first).toEqual({ resealed: 100, isComplete: false })
  const both = await Promise.all([reseal(world.pool, during(), 1_000), reseal(world.pool, during(), 1_000)])
  const last = await reseal(world.pool, during(), 1_000)
  expect([...both, last].reduce((sum, { resealed }) => sum + resealed, 0)).toBe(70)
  expect(await opened(after())).toEqual(names.toSorted())
})

test('a value that is set meanwhile wins', async () => {
  await reset({ A: 'a', B: 'b' }, before())
  let overwritten: Promise<void> | undefined
  const seal: Sealing['seal'] = (place, text) => {
    // Between the read and the write of its batch.
    overwritten ??= set('A', 'set meanwhile', before())
    return during().seal(place, text)
  }
  const client = {
    async query(config: never) {
      await overwritten
      return world.pool.query(config)
    },
  }
  expect(await reseal(client as Client, { ...during(), seal }, 1_000)).toEqual({ resealed: 1, isComplete: true })
  expect(await opened(during())).toEqual(['set meanwhile', 'b'])
})

test('a row that somebody else has locked is not waited for', async () => {
  await reset({ A: 'a', B: 'b' }, before())
  const client = await world.pool.connect()
  try {
    await client.query('begin')
    await client.query(`select 1 from secret where name = 'A' for update`)
    expect(await reseal(world.pool, during(), 1_000)).toEqual({ resealed: 1, isComplete: true })
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect(await reseal(world.pool, during(), 1_000)).toEqual({ resealed: 1, isComplete: true })
})

test('only an administrator of the instance may', async () => {
  for (const viewer of [
    viewerOf('USER'),
    viewerOf('ADMIN', { projects: [projectId] }),
    viewerWith([{ role: 'ADMIN', projectId: null }]),
  ])
    expect(await resealSecrets({ pool: world.pool, sealing: during() }, viewer)).toMatchObject({
      refusal: { type: 'ForbiddenError' },
    })
})

test('a server that lacks a key says so at its start, by its id', async () => {
  await reset({ A: 'a', B: 'b' }, before())
  const lines: string[] = []
  const logger = createLogger('warn', { write: (line) => void lines.push(line) })
  await warnOfUnknownKeys({ pool: world.pool, sealing: during(), logger })
  expect(lines).toEqual([])
  await warnOfUnknownKeys({ pool: world.pool, sealing: after(), logger })
  expect(lines.map((line) => JSON.parse(line).sealed)).toEqual([[{ keyId: idOf(OLD), count: 2 }]])
})

test('credentials of targets are resealed where they are sealed for, and a database without targets is counted', async () => {
  await reset({ A: 'a' }, before())
  const { rows } = await world.pool.query<{ id: string }>('select gen_random_uuid() as id')
  const target = { id: rows[0]?.id ?? '', projectId, name: 'eu', type: 'own', labels: {}, description: '' }
  const now = world.clock.now()
  const sealed = before().seal(sealedFor(target), 'credentials')
  await TARGETS.write(world.pool, { ...target, sealed, generation: 1, createdAt: now, updatedAt: now })
  await TARGETS.write(world.pool, {
    ...{ ...target, id: projectId, name: 'none', sealed: null },
    ...{ generation: 1, createdAt: now, updatedAt: now },
  })
  expect(await countByKey(world.pool)).toMatchObject([{ keyId: idOf(OLD), count: 2 }])
  expect(await reseal(world.pool, during(), 1_000)).toEqual({ resealed: 2, isComplete: true })
  const found = await findTarget(world.pool, projectId, 'eu')
  expect(found?.sealed && after().open(sealedFor(target), found.sealed)).toBe('credentials')
  expect(found?.generation).toBe(1)
  expect(await countByKey(world.pool)).toMatchObject([{ keyId: idOf(NEW), count: 2 }])
  const client = await world.pool.connect()
  try {
    await client.query('begin')
    await client.query('alter table target rename to target_of_later')
    expect(await countByKey(client)).toMatchObject([{ keyId: idOf(NEW), count: 1 }])
  } finally {
    await client.query('rollback')
    client.release()
  }
})
