import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, remove, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'

/** The agent of the README, as somebody copies it: its own folder, the package as it is published, a real server. */

const ROOT = join(import.meta.dirname, '../..')
const PUBLISHED_URL = 'http://127.0.0.1:4000/graphql'
const run = promisify(execFile)

/** The only piece of TypeScript below a heading of the README. */
async function snippet(heading: string): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const section = readme.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? ''
  const found = [...section.matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
  expect(found).toHaveLength(1)
  return found[0]?.[1] ?? ''
}

/** A folder with `agent.ts` in which `phaseline/client` is what is built of the client. */
async function agentFolder(text: string) {
  const path = await mkdtemp(join(tmpdir(), 'readme-agent-'))
  const built = join(path, 'built')
  const json = (file: string, value: object) => writeFile(join(path, file), JSON.stringify(value))
  await mkdir(join(path, 'node_modules/@types'), { recursive: true })
  await mkdir(built)
  await writeFile(join(path, 'agent.ts'), text)
  await writeFile(join(built, 'package.json'), await readFile(join(ROOT, 'package.json')))
  await symlink(join(ROOT, 'node_modules'), join(built, 'node_modules'))
  await symlink(built, join(path, 'node_modules/phaseline'))
  await symlink(join(ROOT, 'node_modules/@types/node'), join(path, 'node_modules/@types/node'))
  await json('package.json', { type: 'module' })
  const options = { strict: true, noEmit: true, module: 'nodenext', target: 'es2024', types: ['node'] }
  await json('tsconfig.json', { compilerOptions: { ...options, skipLibCheck: true }, files: ['agent.ts'] })
  await json('tsconfig.client.json', {
    extends: join(ROOT, 'tsconfig.build.json'),
    compilerOptions: {
      declaration: true,
      rootDir: ROOT,
      outDir: join(built, 'dist'),
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    files: [join(ROOT, 'src/client/index.ts')],
    include: [],
  })
  const tsc = (config: string) => run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(path, config)])
  await tsc('tsconfig.client.json')
  return { path, check: () => tsc('tsconfig.json'), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

const ITEM = gql(`{ item: objectByPath(kind: DEPLOY_ITEM, path: ["shop", "deploy-items", "it"]) {
  phase error { message } progress { step value total } logs(first: 9) { edges { node { text } } }
  ... on DeployItem { exports } } }`)

it('does its work and takes it back, as it stands there', async () => {
  const text = await snippet('Write an agent')
  expect(text.split(PUBLISHED_URL)).toHaveLength(2)
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  await using folder = await agentFolder(text.replace(PUBLISHED_URL, server.url))
  await folder.check()
  const { client } = server
  const token = { name: 'my-deployer', role: 'AGENT', actor: 'DEPLOYER', types: ['my-type'] } as const
  const { secret } = await ask(client, MUTATIONS.createToken, token)
  const env = { PATH: process.env.PATH, PHASELINE_TOKEN: secret }
  const agent = spawn(process.execPath, ['agent.ts'], { cwd: folder.path, env, stdio: ['ignore', 'inherit', 'pipe'] })
  let problems = ''
  agent.stderr.on('data', (chunk) => {
    problems += String(chunk)
  })
  try {
    const id = await create(client, 'shop', { deployItems: [{ name: 'it', type: 'my-type', config: {} }] })
    const ended = async () => (agent.exitCode === null ? (await show(client, id))?.finished : true)
    await until(ended, { what: 'it has ended' })
    expect(problems).toBe('')
    // Its output may come after its end.
    await expect
      .poll(() => client.query(ITEM))
      .toEqual({
        item: {
          phase: 'SUCCEEDED',
          error: null,
          progress: { step: 'Working', value: 1, total: 2 },
          logs: { edges: [{ node: { text: 'RECONCILE it' } }] },
          exports: { url: '…' },
        },
      })
    await remove(client, id)
    await until(async () => (await show(client, id)) === null, { what: 'it is deleted' })
    expect(problems).toBe('')
  } finally {
    agent.kill('SIGKILL')
  }
})
