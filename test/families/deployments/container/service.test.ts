import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { serviceContainer } from '../../../../src/families/deployments/agents/container/container-of.ts'
import { readConfig } from '../../../../src/families/deployments/agents/container/read-config.ts'
import { engineSocket, IMAGE, provideImage } from '../../../testkit/container-engine.ts'
import { until } from '../../../testkit/wait.ts'
import { itemPlace } from './item-place.ts'

const socket = engineSocket()
const WEB = 'cat $PHASELINE_SECRETS/TEXT > /tmp/index.html; exec busybox httpd -f -p 8080 -h /tmp'
const BASE = { mode: 'service', image: IMAGE, memory: '64m', pids: 64, graceMs: 1_000 }
const shell = (text: string, more: object = {}) => ({ ...BASE, command: ['sh', '-c', text], ...more })

/** A server at the port; null: something else has it. */
async function taken(port: number | undefined): Promise<Server | null> {
  const server = createServer().listen(port, '127.0.0.1')
  return await once(server, 'listening').then(
    () => server,
    () => null,
  )
}

describe.runIf(socket !== null)('services of the container deployer', { concurrent: true }, () => {
  const place = () => itemPlace(socket ?? '')
  beforeAll(() => provideImage(socket ?? ''))

  test('a service answers once it is done; its drift is mended; a change replaces it; deleted, nothing is left', async () => {
    await using at = await place()
    const config = shell(WEB, {
      ...{ ports: [{ container: 8_080 }], secrets: { TEXT: 'hello' } },
      health: { http: { path: '/index.html' }, intervalMs: 200 },
    })
    const deploy = async (given: object) => {
      const { outcome, lines } = await at.deploy(given)
      const exports = outcome && 'phase' in outcome ? (outcome.exports as { readonly port: number } | undefined) : null
      const answer = exports ? await fetch(`http://127.0.0.1:${exports.port}/index.html`) : null
      return { outcome, lines, text: await answer?.text(), port: exports?.port, id: (await at.inspect())?.Id }
    }
    const current = () => at.docker.getContainer(at.name)
    const port = expect.any(Number)
    const first = await deploy(config)
    expect(first).toMatchObject({ lines: ['STEP The container is created'], text: 'hello' })
    expect(first.outcome).toEqual({
      phase: 'SUCCEEDED',
      exports: { container: at.name, host: '127.0.0.1', port, ports: { 8080: port } },
    })
    expect(await deploy(config)).toMatchObject({ lines: ['STEP The container is unchanged'], id: first.id })

    await current().stop({ t: 0 })
    expect(await deploy(config)).toMatchObject({
      ...{ lines: ['STEP The container had ended: it is started again'], text: 'hello', id: first.id },
    })
    await current().remove({ force: true })
    const second = await deploy(config)
    expect(second).toMatchObject({ lines: ['STEP The container is created'], text: 'hello' })
    await current().rename({ name: `elsewhere-${randomUUID()}` })
    const third = await deploy(config)
    expect(third.outcome).toMatchObject({ phase: 'SUCCEEDED' })
    expect(third.lines).toEqual([
      expect.stringMatching(/^STEP The container .*elsewhere-\S+ is removed/),
      'STEP The container is created',
    ])
    await current().pause()
    const fourth = await deploy(config)
    expect(fourth.lines[0]).toBe('STEP The container is replaced: it was paused from outside')
    const other = await deploy({ ...config, secrets: { TEXT: 'hi' } })
    expect(other).toMatchObject({ lines: ['STEP The container is replaced: its secrets have changed', first.lines[0]] })
    expect(other.text).toBe('hi')
    const replaced = await deploy({ ...config, env: { A: 1 } })
    expect(replaced).toMatchObject({
      lines: ['STEP The container is replaced: its config has changed', first.lines[0]],
    })
    await current().stop({ t: 0 })
    // The engine lets go of the port a moment later.
    await using _server = await until(() => taken(replaced.port), { what: 'the port is free' })
    const moved = await deploy({ ...config, env: { A: 1 } })
    expect(moved).toMatchObject({ outcome: { phase: 'SUCCEEDED' }, text: 'hello' })
    expect(moved.port).not.toBe(replaced.port)
    expect(new Set([first.id, second.id, third.id, fourth.id, other.id, replaced.id]).size).toBe(6)
    expect(await at.leftovers()).toHaveLength(2)
    expect((await at.remove(config)).outcome).toEqual({ phase: 'GONE' })
    expect(await at.leftovers()).toEqual([])
  })

  test('a deployer that dies between creation and start, or before it has told, leaves no second container', async () => {
    await using at = await place()
    const health = { command: ['test', '-e', '/tmp/ready'], intervalMs: 100 }
    const config = shell('trap "exit 0" TERM; sleep 0.3; echo > /tmp/ready; while true; do sleep 0.1; done', {
      ...{ network: 'none', health },
    })
    const jobId = randomUUID()
    const first = at.begin(config, { jobId })
    first.stop('SHUTDOWN')
    expect((await first.worked).outcome).toEqual({ phase: 'ABORTED' })
    const second = await at.deploy(config, { jobId, attempt: 2 })
    expect(second.outcome).toEqual({ phase: 'SUCCEEDED', exports: { container: at.name } })
    await at.docker.getContainer(at.name).remove({ force: true })
    const plan = { item: { objectId: at.item, jobId, name: 'it' }, config: readConfig(config), mounted: new Map() }
    const { id } = await at.docker.createContainer(serviceContainer(plan))
    const third = await at.deploy(config)
    expect(third).toMatchObject({ outcome: second.outcome, lines: ['STEP The container is created'] })
    expect((await at.inspect())?.Id).toBe(id)
    // As an engine shows what others have given another limit.
    await at.docker.getContainer(at.name).remove({ force: true })
    const { HostConfig, ...rest } = serviceContainer(plan)
    await at.docker.createContainer({ ...rest, HostConfig: { ...HostConfig, PidsLimit: 1_000 } })
    const fourth = await at.deploy(config)
    expect(fourth.lines[0]).toBe('STEP The container is replaced: it was changed from outside')
    expect((await at.inspect())?.HostConfig.PidsLimit).toBe(64)
    expect(await at.leftovers()).toHaveLength(1)
  })

  test('a service that is not healthy says why, with the end of its log', async () => {
    await using at = await place()
    const errorOf = async (config: object) => (await at.deploy(config)).error
    const none = { network: 'none' }
    const health = { command: ['false'], intervalMs: 100, retries: 5 }
    const waits = 'echo no database >&2; while true; do sleep 0.1; done'
    expect(await errorOf(shell(waits, { ...none, health: { ...health, command: ['test', '-e', '/no'] } }))).toBe(
      'CONTAINER_UNHEALTHY: Its check ends with exit code 1. Its last lines:\nno database',
    )
    const slow = { ...health, command: ['sleep', '1000'], timeoutMs: 200 }
    expect(await errorOf(shell(waits, { ...none, health: slow }))).toMatch(/Its check takes longer than 200 ms/)
    expect(await errorOf(shell('echo no database >&2; exit 4', { ...none, health: { retries: 2 } }))).toMatch(
      /^CONTAINER_UNHEALTHY: It has ended(?: with exit code 4|, and is started again). Its last lines:\n(no database\n?)+$/,
    )
    expect(await errorOf(shell('true', { health: { http: { port: 80 } } }))).toMatch(
      /^CONTAINER_CONFIG: config.health.http.port: it must be one of the published ports/,
    )
  })
})
