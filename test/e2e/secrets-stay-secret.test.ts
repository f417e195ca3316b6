import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { allArguments, dump } from '../testkit/everywhere.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** A marker is a project's secret; wherever it could turn up in clear, it is looked for. */

const MARKER = `marker-${randomBytes(12).toString('hex')}`
/** Shows off with it in every way, waits until it was looked at, and fails. */
const WORKER = `
set -e
test "$PRESS_KEY" = "$(cat "$PHASELINE_SECRETS/PRESS_KEY")"
echo "the key is $PRESS_KEY, twice: $PRESS_KEY$PRESS_KEY"
echo "on the other stream: $PRESS_KEY" >&2
printf '%s' "$PHASELINE_TOKEN" | cut -c1-3
echo "the token is $PHASELINE_TOKEN"
curl -sf "$PHASELINE_URL" -H "authorization: Bearer $PHASELINE_TOKEN" -H 'content-type: application/json' -d '{"query":"mutation { createJob(input: { name: \\"job\\", spec: { command: [\\"sh\\", \\"-c\\", \\"echo job: $PRESS_KEY; exit 4\\"] } }) { __typename ... on Error { message } } }"}'
while [ ! -e "$PHASELINE_WORKSPACE/looked" ]; do sleep 0.05; done
echo "$PRESS_KEY" | false
`

const EVERYTHING = gql(`query ($id: ID!) {
  project(name: "press") { workerTemplate { command env { name value } } secrets { name updatedAt } }
  phaseChanges(first: 100) { edges { node { name to reason message by } } }
  tree(rootId: $id) { objects(first: 10) { edges { node { kind phase finished error { code message } labels { key value } progress { step }
    history(first: 20) { edges { node { to reason message } } } logs(first: 100) { edges { node { stream text } } }
    ... on Worker { workloadSpec { command args env { name value } } exitCode resources { kind removedAt } }
    ... on Job { workloadSpec { command args env { name value } } exitCode }
    ... on Event { payload } } } } } }`)

test('a secret is nowhere in logs, errors, phase changes, process arguments or the database in clear', async () => {
  await using database = await createTestDatabase()
  await using server = await startServer({
    env: {
      DATABASE_URL: database.url,
      PHASELINE_SECRET_KEY: randomBytes(32).toString('base64'),
      PHASELINE_PROCESS_RUNTIME: 'trusted',
      PHASELINE_CLEANUP_DELAY_MS: '100',
      PHASELINE_LOG_LEVEL: 'trace',
    },
  })
  const { client } = server
  const workerTemplate = { command: ['sh', '-c', WORKER], workspace: true }
  await ask(client, MUTATIONS.createProject, { name: 'press', workerTemplate })
  const secret = { project: 'press', name: 'PRESS_KEY', value: MARKER }
  await ask(client, MUTATIONS.setSecret, secret)
  const refused = await client.query(MUTATIONS.setSecret, {
    input: { ...secret, name: 'not a name' },
  })
  const { events } = await ask(client, MUTATIONS.createEvent, { project: 'press', source: 'test', type: 'print' })
  const [{ id = '' } = {}] = events
  const shown = () => client.query(EVERYTHING, { id })
  const objects = async () => ((await shown()).tree?.objects.edges ?? []).map(({ node }) => node)
  const job = async () => (await objects()).find(({ kind }) => kind === 'JOB')
  await until(async () => (await job())?.finished, { what: 'the job has ended' })
  const whileItRan = allArguments()
  expect(whileItRan).toContain('PHASELINE_SECRETS')

  const lines = async () =>
    (await objects()).flatMap(({ logs }) => logs.edges.map(({ node }) => `${node.stream} ${node.text}`))
  // The output of a job may come after its end.
  await expect
    .poll(lines)
    .toEqual(
      expect.arrayContaining([
        'STDOUT the key is ***, twice: ******',
        'STDERR on the other stream: ***',
        'STDOUT pw_',
        'STDOUT the token is ***',
        'STDOUT job: ***',
      ]),
    )
  await ask(client, MUTATIONS.cancelEvent, { id, reason: 'looked at' })
  await until(async () => (await objects()).every(({ finished }) => finished), { what: 'all has ended' })
  const everywhere = {
    api: JSON.stringify([await shown(), refused]),
    database: await dump(database.pool),
    arguments: whileItRan,
    output: server.output(),
  }
  // Secrets in the environment can be read by the programs that the runtime starts: a warning names those settings.
  expect(server.output()).toContain('"settings":["PHASELINE_TOKEN","PHASELINE_SECRET_KEY"]')
  expect(server.output()).not.toContain(server.token)
  for (const [place, text] of Object.entries(everywhere)) {
    expect(text.includes(MARKER), place).toBe(false)
    expect(text.includes(Buffer.from(MARKER).toString('hex')), place).toBe(false)
    expect(text.includes(Buffer.from(MARKER).toString('base64').slice(0, 24)), place).toBe(false)
  }
})
