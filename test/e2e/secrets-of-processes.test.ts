import { createHmac, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { gadgetFolder } from '../agents/gadget-folder.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { startServer, startSharedServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** A process of a user can read the environment and the arguments of the user's other processes. */

/** Prints both for each of its ancestors, its own parent first. */
const ANCESTORS = `
pid=$PPID
while [ "$pid" -gt 1 ]; do
  tr '\\0' '\\n' </proc/$pid/cmdline
  tr '\\0' '\\n' </proc/$pid/environ
  while read -r name value; do [ "$name" = PPid: ] && pid=$value && break; done </proc/$pid/status
done`

/** How the server makes the tokens of its own agents from the administrator's. */
const PURPOSES = ['agents', 'runner', 'runtime'].map((what) => `phaseline built-in ${what}`)
const agentToken = (secret: string, purpose: string): string =>
  createHmac('sha256', secret).update(purpose).digest('base64url')

/** Arguments and environment of every process of this machine. */
const everyProcess = (): string =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8')).join('\0')
      } catch {
        return ''
      }
    })
    .join('\0')

/** Has a worker and gadgets of both kinds look around, and an expression evaluated meanwhile. */
async function lookAround({ client }: TestServer, folder: string): Promise<readonly string[]> {
  const [worker, item, job] = ['worker', 'item', 'job'].map((name) => join(folder, name)) as [string, string, string]
  const command = ['sh', '-c', `(${ANCESTORS}) >"${worker}.new"; mv "${worker}.new" "${worker}"`]
  await ask(client, MUTATIONS.createProject, { name: 'look', workerTemplate: { command } })
  await ask(client, MUTATIONS.createEvent, { project: 'look', source: 'test', type: 'look' })
  const look = (file: string) => [{ name: 'GADGET_OUT', value: file }]
  await ask(client, MUTATIONS.createTask, {
    project: 'look',
    name: 'task',
    jobs: [{ name: 'job', gadget: 'look', args: ['${"expr" + "ession"}'], env: look(job) }],
  })
  await ask(client, MUTATIONS.createInstallation, {
    project: 'look',
    name: 'tree',
    spec: { deployItems: [{ name: 'item', type: 'gadget', config: { gadget: 'look', env: { GADGET_OUT: item } } }] },
  })
  const found: string[] = []
  for (const file of [worker, item, job]) {
    found.push(await until(() => readFile(file, 'utf8').catch(() => ''), { what: file }))
  }
  return found
}

async function expectNoSecret(server: TestServer, folder: string, more: readonly string[]): Promise<void> {
  const tokens = PURPOSES.map((purpose) => agentToken(server.token, purpose))
  for (const token of tokens) {
    await using agent = createClient({ url: server.url, token })
    expect(await agent.query(gql('{ viewer { role } }'))).toEqual({ viewer: { role: 'AGENT' } })
  }
  const secrets = [server.token, ...tokens, ...more]
  const seen = await lookAround(server, folder)
  for (const text of seen) {
    expect(text).toContain('agents/main.ts')
    expect(text).toContain('\nserve\n')
  }
  const all = everyProcess()
  for (const name of ['item', 'job']) await writeFile(join(folder, `${name}.looked`), '')
  for (const file of ['agents/main.ts', 'sandbox/worker.ts', 'guard-main.ts', 'GADGET_OUT']) expect(all).toContain(file)
  for (const [where, text] of [...seen.entries(), ['all', all] as const]) {
    expect(
      secrets.filter((secret) => text.includes(secret)),
      String(where),
    ).toEqual([])
  }
}

test('no process shows a token that the server has generated', async () => {
  await using gadgets = await gadgetFolder()
  await gadgets.add('look', LOOK)
  await using server = await startServer({
    tokenIn: 'data folder',
    env: { PHASELINE_PROCESS_RUNTIME: 'trusted', PHASELINE_GADGETS: gadgets.path },
  })
  await expectNoSecret(server, gadgets.path, [])
})

const LOOK = `case "$*" in
*--getlocks*) echo LOCK test:look=S ;;
*--undo* | *--abort*) ;;
*) (${ANCESTORS}) >"$GADGET_OUT.new"; mv "$GADGET_OUT.new" "$GADGET_OUT"
  while [ ! -e "$GADGET_OUT.looked" ]; do sleep 0.1; done ;;
esac`

test('nor a secret that it was given in a file', async () => {
  await using stack = new AsyncDisposableStack()
  const gadgets = stack.use(await gadgetFolder())
  await gadgets.add('look', LOOK)
  const database = stack.use(await createTestDatabase(1))
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-files-')), (path) => rm(path, { recursive: true }))
  const token = randomBytes(24).toString('base64url')
  const key = randomBytes(32).toString('base64')
  const secrets = { DATABASE_URL: database.url, PHASELINE_SECRET_KEY: key, PHASELINE_TOKEN: token }
  const env: Record<string, string> = { PHASELINE_PROCESS_RUNTIME: 'trusted', PHASELINE_GADGETS: gadgets.path }
  for (const [name, value] of Object.entries(secrets)) {
    await writeFile(join(folder, name), `${value}\n`, { mode: 0o600 })
    Object.assign(env, { [name]: '', [`${name}_FILE`]: join(folder, name) })
  }
  const server = stack.use(await startServer({ env, token }))
  await expectNoSecret(server, gadgets.path, [key, database.url])
  expect(server.output()).not.toContain('environment')
})

test('where others can reach the server it says that it runs no commands of users, and runs none', async () => {
  await using server = await startSharedServer({ env: { HOST: '0.0.0.0', PHASELINE_PROCESS_RUNTIME: '' } })
  await until(() => server.output().includes('The process runtime is off, since HOST is 0.0.0.0'), {
    what: 'it is said',
  })
  expect(everyProcess()).not.toContain(`--types\0process\0--url\0${server.url}`)
})
