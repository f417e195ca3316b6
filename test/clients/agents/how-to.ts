import { spawn } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startTestApp } from '../../testkit/app.ts'
import { ask } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { create, remove, show } from '../../testkit/mutations.ts'
import { until } from '../../testkit/wait.ts'

export interface Page {
  /** In docs/how-to. */
  readonly page: string
  /** The file that it shows. */
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  /** Makes what it shows ready in a folder, and resolves to its command. */
  prepare(folder: string): Promise<readonly [command: string, ...args: readonly string[]]>
}

const ITEM = gql(`{ item: objectByPath(kind: DEPLOY_ITEM, path: ["greeting", "deploy-items", "world"]) {
  phase progress { step } logs(first: 9) { edges { node { text } } } ... on DeployItem { exports } } }`)

/** The agent of a page works, as somebody copies it. */
export async function runAgentOfPage({ page, file, env: more, prepare }: Page): Promise<void> {
  const shown = await readFile(new URL(`../../../docs/how-to/${page}`, import.meta.url), 'utf8')
  const [, text = ''] = /^```\w+\n((?:#|\/\/) greeter[\s\S]*?)^```$/m.exec(shown) ?? []
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  await using folder = await mkdtempDisposable(join(tmpdir(), 'phaseline-page-'))
  await writeFile(join(folder.path, file), text)
  const [command, ...args] = await prepare(folder.path)
  const { client, origin } = server
  const token = { name: 'greeter', role: 'AGENT', actor: 'DEPLOYER', types: ['greeting'] } as const
  const { secret } = await ask(client, MUTATIONS.createToken, token)
  const env = { ...more, PHASELINE_URL: origin, PHASELINE_TOKEN: secret }
  const agent = spawn(command, args, { cwd: folder.path, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => agent.once('close', resolve))
  let problems = ''
  agent.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    problems += chunk
  })
  try {
    const deployItems = [{ name: 'world', type: 'greeting', config: { greeting: 'Hello' } }]
    const id = await create(client, 'greeting', { deployItems })
    const isOver = async () => agent.exitCode !== null || (await show(client, id))?.finished
    await until(isOver, { what: 'it has ended', instead: () => problems })
    expect(problems).toBe('')
    expect(await client.query(ITEM)).toEqual({
      item: {
        phase: 'SUCCEEDED',
        progress: { step: 'Greeting' },
        logs: { edges: [{ node: { text: 'RECONCILE world' } }] },
        exports: { greeted: 'Hello, world!' },
      },
    })
    await remove(client, id)
    await until(async () => (await show(client, id)) === null, { what: 'it is deleted' })
    agent.kill('SIGTERM')
    expect([await ended, problems]).toEqual([0, ''])
  } finally {
    agent.kill('SIGKILL')
  }
}
