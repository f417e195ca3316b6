import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { describe, expect, test } from 'vitest'
import { startAgentProcess } from '../../../../src/agents/spawn.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { containerName, ITEM_LABEL } from '../../../../src/families/deployments/agents/container/container-of.ts'
import { startTestApp } from '../../../testkit/app.ts'
import { ask } from '../../../testkit/ask.ts'
import { engineSocket, provideImage } from '../../../testkit/container-engine.ts'
import { MUTATIONS } from '../../../testkit/documents.ts'
import { gql } from '../../../testkit/gql.ts'
import { create, remove, show } from '../../../testkit/mutations.ts'
import { until } from '../../../testkit/wait.ts'
import { leftoversOf, script } from './item-place.ts'

const socket = engineSocket()
const ITEM = gql(`{ item: objectByPath(kind: DEPLOY_ITEM, path: ["shop", "deploy-items", "it"]) {
  id ... on DeployItem { exports } } }`)

/** A socket before the engine's that passes on everything but the first request to start a container. */
async function withoutStart(engine: string) {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-relay-'))
  const path = join(folder, 'engine.sock')
  const held = Promise.withResolvers<void>()
  const server = createServer((client) => {
    const upstream = connect(engine)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
    upstream.pipe(client)
    client.on('data', (chunk) => {
      if (/^POST \/containers\/\w+\/start/.test(chunk.toString('latin1'))) held.resolve()
      else upstream.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    path,
    held: held.promise,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true })
    },
  }
}

/** How often the engine has started containers of an item, by its own records. */
async function startsOf(docker: Docker, item: string, since: number): Promise<number> {
  const filters = { type: ['container' as const], event: ['start' as const], label: [`${ITEM_LABEL}=${item}`] }
  const events = await docker.getEvents({ since, until: Math.ceil(Date.now() / 1_000), filters })
  let text = ''
  for await (const chunk of events) text += String(chunk)
  return text.split('\n').filter((line) => line !== '').length
}

describe.runIf(socket !== null)('a container deployer that is killed', () => {
  test('before the start, or while the job runs: the job runs once, and the next deployer tells its end', async () => {
    const engine = socket ?? ''
    await provideImage(engine)
    const docker = new Docker({ socketPath: engine })
    await using relay = await withoutStart(engine)
    await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
    const input = { name: 'deployer', role: 'AGENT', actor: 'DEPLOYER', types: ['container'] } as const
    const token = new Secret((await ask(server.client, MUTATIONS.createToken, input)).secret)
    const start = (path: string) =>
      startAgentProcess({
        ...{ types: ['container-deployer'], url: server.url, token, leaseMs: 2_000 },
        options: { engine: `unix://${path}` },
      })
    const kill = async (agent: ReturnType<typeof start>): Promise<void> => {
      if (agent.pid !== null) process.kill(agent.pid, 'SIGKILL')
      await agent.close()
    }
    const since = Math.floor(Date.now() / 1_000) - 1
    const secrets = { PASSWORD: 'marker of a secret' }
    const config = script(`trap 'echo EXPORT ended 1; exit 0' TERM; while true; do sleep 0.1; done`, { secrets })
    const deployItems = [{ name: 'it', type: 'container', config }]

    let agent = start(relay.path)
    const id = await create(server.client, 'shop', { deployItems })
    await relay.held
    await kill(agent)
    const item = (await server.client.query(ITEM, {})).item?.id ?? ''
    const container = docker.getContainer(containerName(item))
    const isRunning = async (): Promise<boolean> =>
      (await container.inspect().catch(() => null))?.State.Running === true
    expect(await isRunning()).toBe(false)
    expect(await leftoversOf(docker, item)).toHaveLength(2)

    agent = start(engine)
    await until(isRunning, { what: 'the job runs' })
    await kill(agent)
    expect(await isRunning()).toBe(true)
    // The first process of a container ignores the signal until its shell has come as far as the trap.
    const ended = async (): Promise<boolean> => {
      await container.kill({ signal: 'SIGTERM' }).catch(() => undefined)
      return !(await isRunning())
    }
    await until(ended, { what: 'the job has ended' })

    agent = start(engine)
    await until(async () => (await show(server.client, id))?.finished, { what: 'it is told' })
    expect(await show(server.client, id)).toMatchObject({ phase: 'SUCCEEDED' })
    expect((await server.client.query(ITEM, {})).item).toEqual({ id: item, exports: { ended: 1 } })
    // The engine writes its records a moment later.
    expect(await until(() => startsOf(docker, item, since), { what: 'its start is recorded' })).toBe(1)

    await remove(server.client, id)
    await until(async () => (await show(server.client, id)) === null, { what: 'it is gone' })
    expect(await leftoversOf(docker, item)).toEqual([])
    await agent.close()
  })
})
