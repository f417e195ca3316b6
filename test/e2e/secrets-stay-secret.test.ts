import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
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

/** Every row of every table as text; what is binary as it is written in a dump, and as it could be read. */
async function dump(pool: Awaited<ReturnType<typeof createTestDatabase>>['pool']): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  const texts = await Promise.all(
    rows.map(async ({ name }) => {
      const all = await pool.query<{ text: string }>(`select t::text as text from "${name}" t`)
      return all.rows.map(({ text }) => `${text}\n${readable(text)}`).join('\n')
    }),
  )
  expect(rows.length).toBeGreaterThan(20)
  return texts.join('\n')
}
const readable = (text: string): string =>
  [...text.matchAll(/\\+x([0-9a-f]+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1')).join('\n')

/** Arguments of all processes of this machine. */
function allArguments(): string {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })
    .join('\n')
}

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

  const lines = (await objects()).flatMap(({ logs }) => logs.edges.map(({ node }) => `${node.stream} ${node.text}`))
  expect(lines).toEqual(
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
  // Given as they are, they can be read by what the runtime starts: at least that is told, by their names.
  expect(server.output()).toContain('"settings":["PHASELINE_TOKEN","PHASELINE_SECRET_KEY"]')
  expect(server.output()).not.toContain(server.token)
  for (const [place, text] of Object.entries(everywhere)) {
    expect(text.includes(MARKER), place).toBe(false)
    expect(text.includes(Buffer.from(MARKER).toString('hex')), place).toBe(false)
    expect(text.includes(Buffer.from(MARKER).toString('base64').slice(0, 24)), place).toBe(false)
  }
})
