import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { until } from '../testkit/wait.ts'
import { commandLine, documents } from './command.ts'

/** In an order in which it could not be written. */
const FILE = `name: shop
spec:
  deployItems:
    - { name: a, type: never, limits: [{ limit: db }] }
    - { name: b, type: never, limits: [{ limit: db }] }
---
kind: Limit
name: db
max: 1
description: the one database
---
kind: Project
name: limited
workerTemplate: { command: ["true"], limits: [{ limit: db, key: main }] }
`

test('limits are applied before what asks for them, shown with what waits, and deleted', async () => {
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const done = async (line: string, stdin = '') => {
    const { code, out, err } = await phaseline(line, { stdin })
    expect({ line, code, err }).toEqual({ line, code: 0, err: '' })
    return out
  }
  const plan = await done('plan -f - --project limited', FILE)
  expect(plan).toContain('limit limited/db would be created')
  const applied = await done('apply -f - --project limited', FILE)
  expect(applied.split('\n').slice(0, 2)).toEqual(['project limited created', 'limit limited/db created'])
  expect(await done('apply -f - --project limited', FILE)).toContain('limit limited/db unchanged\n')
  expect(await done('diff -f - --project limited', FILE.replace('max: 1', 'max: 2'))).toContain(
    'limit limited/db would be updated (max)',
  )

  const shown = async () =>
    documents(await done('limit get limited/db --json'))[0] as { queue: unknown[]; holders: unknown[] }
  await until(async () => (await shown()).queue.length === 1, { what: 'one of both waits' })
  expect(await shown()).toMatchObject({
    ...{ kind: 'LIMIT', max: 1, maxPerKey: null, runningCount: 1, waitingCount: 1 },
    keys: [{ key: '', runningCount: 1, waitingCount: 1 }],
    holders: [{ object: { path: 'shop/deploy-items/a' } }],
    queue: [{ position: 1, object: { path: 'shop/deploy-items/b' } }],
  })
  expect(await done('limit get limited/db')).toMatch(/shop\/deploy-items\/b +"" +waits, number 1/)
  expect(await done('limit list --project limited')).toMatch(
    /^PROJECT +NAME +MAX +PER KEY +RATE +RUNNING +WAITING +PAUSED\nlimited +db +1 +1 +1\n/,
  )
  expect(await done('get limited/shop/deploy-items/b')).toContain('The limit db is used by 1 of 1.')
  expect(await done('limit export limited/db')).toBe(
    '---\nkind: Limit\nname: db\nproject: limited\ndescription: the one database\nmax: 1\n',
  )
  expect(await done('limit override limited/db --rate 10/1m --max-per-key 0 --for 2h')).toContain(
    'limited/db: the key "" has other bounds',
  )
  expect(await done('limit pause limited/db --reason disks')).toContain('limited/db paused')
  const held = await done('limit get limited/db')
  expect(held).toMatch(/paused +by .*: disks\n/)
  expect(held).toMatch(/OVERRIDDEN +PER KEY +RATE +UNTIL +BY\n"" +0 +10\/1m /)
  expect(await done('get limited/shop/deploy-items/b')).toContain('The limit db is paused.')
  expect(await done('limit resume limited/db')).toContain('limited/db resumed')
  expect(await done('limit override limited/db')).toContain('the key "" has the bounds of the limit again')
  await done('limit delete limited/db --yes')
  await until(async () => /a runtime|an agent/.test(await done('get limited/shop/deploy-items/b')), {
    what: 'the other one is offered',
  })
  expect(await phaseline('event create --project limited --source s --type t')).toMatchObject({
    code: 2,
    err: expect.stringContaining('its worker template asks for the limit db, which the project lacks'),
  })
})
