import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { allArguments, dump } from '../testkit/everywhere.ts'
import { gitServer } from '../testkit/git-server.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Credentials of a repository; they are searched for wherever they could turn up in clear. */
const MARKER = `marker-${randomBytes(12).toString('hex')}`

const EVENT = gql(`query ($id: ID!) { object(id: $id) {
  phase finished error { code message }
  ... on Event { worker { commit error { code message } logs(first: 500) { edges { node { stream text } } }
    history(first: 20) { edges { node { to reason message } } } } }
} }`)

test('a push builds its own commit with credentials that are nowhere else, and a clone that fails says why', async () => {
  await using git = await gitServer({ credentials: `robot:${MARKER}` })
  const repository = git.create('app')
  const old = repository.commit({ 'build.sh': { mode: '100755', content: '#!/bin/sh\necho old\n' } })
  repository.commit({ 'build.sh': { mode: '100755', content: '#!/bin/sh\necho new\n' } })
  await using database = await createTestDatabase()
  await using server = await startServer({
    env: {
      DATABASE_URL: database.url,
      PHASELINE_SECRET_KEY: randomBytes(32).toString('base64'),
      PHASELINE_PROCESS_RUNTIME: 'trusted',
      PHASELINE_CLONE_HOSTS: git.host,
      PHASELINE_LOG_LEVEL: 'trace',
    },
  })
  const { client } = server
  const clone = { url: repository.url, ref: '${event.payload.after}', secret: 'GIT' }
  const workerTemplate = { command: ['sh', '-c', './build.sh; env; cat .git/config'], clone }
  await ask(client, MUTATIONS.createProject, { name: 'app', workerTemplate })
  const setSecret = (value: string) => ask(client, MUTATIONS.setSecret, { project: 'app', name: 'GIT', value })
  const push = async (after: unknown, output = '') => {
    const event = { project: 'app', source: 'test', type: 'push', payload: JSON.stringify({ after }) }
    const { events } = await ask(client, MUTATIONS.createEvent, event)
    const [{ id = '' } = {}] = events
    // The output of a worker may come after its end.
    return await until(
      async () => {
        const answer = await client.query(EVENT, { id })
        return present(answer.object).finished && JSON.stringify(answer).includes(output) ? answer : null
      },
      { what: `it has ended, with its output ${output}` },
    )
  }
  const ends: unknown[] = []
  const errorOf = async (after: unknown) => {
    const answer = await push(after)
    ends.push(answer)
    const { phase, error } = present(answer.object)
    return { phase, ...error }
  }

  await setSecret(`robot:${MARKER}`)
  const built = await push(old, '"text":"old"')
  ends.push(built)
  const { phase, worker } = present(built.object) as { phase: string; worker: { commit: string } }
  expect({ phase, commit: worker.commit }).toEqual({ phase: 'SUCCEEDED', commit: old })
  expect(JSON.stringify(worker)).toContain(`It has cloned the commit ${old}.`)

  const failed = { phase: 'SCHEDULING_FAILED', code: 'CLONE_FAILED' }
  expect(await errorOf('0'.repeat(40))).toMatchObject({ ...failed, message: expect.stringContaining('no such ref') })
  expect(await errorOf(7)).toMatchObject({ ...failed, message: expect.stringContaining('it is no text') })
  expect(await errorOf('-x')).toMatchObject({ ...failed, message: expect.stringContaining('must be a branch') })
  await setSecret(`robot:${MARKER}wrong`)
  expect(await errorOf(old)).toMatchObject({ ...failed, message: expect.stringContaining('wrong or missing') })

  const everywhere = {
    api: JSON.stringify(ends),
    database: await dump(database.pool),
    arguments: allArguments(),
    output: server.output(),
  }
  for (const [place, text] of Object.entries(everywhere)) {
    expect(text.includes(MARKER), place).toBe(false)
    expect(text.includes(Buffer.from(`robot:${MARKER}`).toString('base64').slice(0, 24)), place).toBe(false)
  }
})
