import { spawn } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestApp } from '../../testkit/app.ts'
import { ask } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { create, remove, show } from '../../testkit/mutations.ts'
import { until } from '../../testkit/wait.ts'
import { CLIENT, PYTHON } from './agent-process.ts'

const PAGE = new URL('../../../docs/how-to/agent-in-python.md', import.meta.url)
const ITEM = gql(`{ item: objectByPath(kind: DEPLOY_ITEM, path: ["greeting", "deploy-items", "world"]) {
  phase progress { step } logs(first: 9) { edges { node { text } } } ... on DeployItem { exports } } }`)

test('the agent of the page works, as somebody copies it', async () => {
  const [, text = ''] = /^```python\n([\s\S]*?)^```$/m.exec(await readFile(PAGE, 'utf8')) ?? []
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  await using folder = await mkdtempDisposable(join(tmpdir(), 'phaseline-python-'))
  await writeFile(join(folder.path, 'greeter.py'), text)
  const { client, origin } = server
  const token = { name: 'greeter', role: 'AGENT', actor: 'DEPLOYER', types: ['greeting'] } as const
  const { secret } = await ask(client, MUTATIONS.createToken, token)
  const env = { PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: 'yes', PHASELINE_URL: origin, PHASELINE_TOKEN: secret }
  const agent = spawn(PYTHON, ['greeter.py'], { cwd: folder.path, env, stdio: ['ignore', 'ignore', 'pipe'] })
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
})
