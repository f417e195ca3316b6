import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { commandLine, documents } from '../cli/command.ts'
import { startTestApp } from '../testkit/app.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

const TOKEN = 'the-one-who-replaces-the-key'
const UNKNOWN = 'secrets are sealed with keys that this server does not have'

test('a key is replaced on a server after the other, and removed too early it is missed', async () => {
  await using database = await createTestDatabase(1)
  const [old, fresh] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const start = (keys: string) =>
    startTestApp({
      token: TOKEN,
      env: {
        DATABASE_URL: database.url,
        PHASELINE_ROLES: 'gateway',
        PHASELINE_SECRET_KEY: '',
        PHASELINE_SECRET_KEY_COMMAND: `echo ${keys}`,
      },
    })
  const run = (url: string) => commandLine({ PHASELINE_URL: url, PHASELINE_TOKEN: TOKEN })

  await using before = await start(old)
  expect(await run(before.url)('secret set default KEPT', { stdin: 'value' })).toMatchObject({ code: 0 })
  await using early = await start(fresh)
  await until(() => early.output().includes(UNKNOWN), { what: 'the missing key is reported' })
  expect(await run(early.url)('secret reseal')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/1 +not on the server\n$/),
  })

  await using during = await start(`${fresh},${old}`)
  const [resealed] = documents((await run(during.url)('secret reseal --json')).out)
  expect(resealed).toMatchObject({
    resealed: 1,
    keys: [
      { newest: true, sealed: 1 },
      { known: true, sealed: 0 },
    ],
  })
  const after = await start(fresh)
  expect((await run(after.url)('secret reseal')).code).toBe(0)
  // It has counted by then.
  await after[Symbol.asyncDispose]()
  expect(after.output()).not.toContain(UNKNOWN)
  for (const { output } of [before, early, during, after])
    for (const key of [old, fresh]) expect(output()).not.toContain(key)
})
