import { expect, test } from 'vitest'
import { createWorld, item, USER } from '../testkit/world.ts'

const spec = (name: string) => ({ deployItems: [item(name)], imports: [], exports: [], installations: [] })

test('concurrent creations share a transaction, and one that fails does not fail the others', async () => {
  await using world = await createWorld()
  const names = ['a', 'b', 'twice', 'c', 'twice', 'd']
  const create = (name: string) =>
    world.commands.createInstallation(USER, { project: 'default', name, spec: spec(name), reconcile: true })
  const done = await Promise.all(names.map(create))
  const refused = done.flatMap((outcome, i) => (outcome.ok ? [] : [`${names[i]}: ${outcome.refusal.type}`]))
  expect(refused).toEqual(['twice: ConflictError'])
  const { rows } = await world.pool.query(
    'select name, xmin::text as transaction from object where parent_id is null order by name',
  )
  expect(rows.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'twice'])

  // Without a conflict they are one transaction, but for the first one, which did not wait for the others.
  const more = ['e', 'f', 'g', 'h']
  expect((await Promise.all(more.map(create))).every(({ ok }) => ok)).toBe(true)
  const written = await world.pool.query(
    'select count(distinct xmin::text)::int as transactions from object where parent_id is null and name = any($1)',
    [more],
  )
  expect(written.rows[0].transactions).toBeLessThanOrEqual(2)
  await world.settle()
  expect([...(await world.work())].sort()).toEqual([...rows.map(({ name }) => name), ...more].sort())
})

test('a key that is used twice at the same time is one creation', async () => {
  await using world = await createWorld()
  const create = () =>
    world.commands.createInstallation(USER, {
      project: 'default',
      name: 'once',
      spec: spec('x'),
      reconcile: true,
      idempotencyKey: 'k',
    })
  const [first, second, third] = await Promise.all([create(), create(), create()])
  expect(first).toMatchObject({ ok: true })
  const objectId = first?.ok && first.objectId
  expect([second, third]).toMatchObject([
    { ok: true, objectId },
    { ok: true, objectId },
  ])
})
