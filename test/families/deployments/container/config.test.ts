import { expect, test } from 'vitest'
import { digestOf } from '../../../../src/families/deployments/agents/container/container-of.ts'
import { readConfig } from '../../../../src/families/deployments/agents/container/read-config.ts'
import { expr, refusal } from '../../../testkit/deployments.ts'
import { createWorld, USER } from '../../../testkit/world.ts'

test('a config that cannot be one is refused with its paths when it is planned, and when it is written', async () => {
  await using world = await createWorld()
  const spec = (config: unknown) => ({
    imports: [{ name: 'name' }],
    deployItems: [{ name: 'it', type: 'container', config }],
  })
  const plan = (config: unknown) =>
    world.commands.planInstallation(USER, { create: { project: 'default', name: 'shop', spec: spec(config) } })
  const name = expr('imports.name')
  const right = { image: 'app:1', args: ['-n', 3, name], env: { N: 1 }, secrets: { P: name }, memory: '1g', user: 1000 }
  expect(await plan(right)).toMatchObject({ ok: true })
  expect(await plan({ image: name, mode: name, memory: name, cpus: name, delete: ['drop'] })).toMatchObject({
    ok: true,
  })
  const wrong = {
    ...{
      image: '--privileged',
      mode: 'daemon',
      command: [],
      args: [{}],
      env: { 'A=B': 'x' },
      files: { 'etc/x': 'y' },
      tmpfs: ['/a/../b'],
      capabilities: ['SYS_ADMIN'],
      volumes: [{ name: '../x', path: '/data' }],
      secrets: { '../x': 'y' },
    },
    ...{
      user: 'root',
      network: 'host',
      memory: 'much',
      cpus: 0,
      pids: 1.5,
      graceMs: -1,
      output: 'json',
      privileged: true,
    },
  }
  const at = (path: string) => `input.spec.deployItems.0.config.${path}`
  const { fields } = await refusal(plan(wrong))
  const paths = new Set(fields.map(({ path }) => path))
  for (const path of Object.keys(wrong)) {
    const found = [...paths].some((one) => one === at(path) || one.startsWith(`${at(path)}.`))
    expect([path, found]).toEqual([path, true])
  }
  expect(fields.find(({ path }) => path === at('privileged'))?.message).toBe('there is no such setting')
  const shared = {
    ...{ image: 'app:1', env: { 'discovery.type': 'single-node' }, tmpfs: ['/run'], capabilities: ['CHOWN', 'SETUID'] },
    ...{ networks: ['back'], aliases: ['db.local'], files: { '/etc/app.conf': 'a' } },
    volumes: [{ name: 'data', path: '/data', readOnly: true, onDelete: 'remove' }],
  }
  expect(await plan(shared)).toMatchObject({ ok: true })
  expect((await refusal(plan({ ...shared, network: 'bridge' }))).fields.map(({ path }) => path)).toEqual([
    at('network'),
  ])
  expect((await refusal(plan({ image: 'app:1', aliases: ['x'], restart: 'always' }))).fields).toHaveLength(2)
  const theirs = { image: 'app:1', network: 'phaseline-0b5e9d0e-8d4c-4a52-9ce6-2f0b0f4a3c11-back' }
  expect((await refusal(plan(theirs))).fields.map(({ path }) => path)).toEqual([at('network')])
  const service = { mode: 'service', image: 'app:1', ports: [{ container: 80 }], health: { http: {} } }
  expect(await plan(service)).toMatchObject({ ok: true })
  const pathsOf = async (config: unknown) => (await refusal(plan(config))).fields.map(({ path }) => path).sort()
  expect(await pathsOf({ ...service, mode: 'job' })).toEqual([at('health'), at('ports')])
  expect(await pathsOf({ ...service, output: 'text', delete: ['x'] })).toEqual([at('delete'), at('output')])
  expect(await pathsOf({ ...service, ports: [{ container: 0 }, {}], health: { http: { path: 'x' } } })).toEqual(
    ['health.http.path', 'ports.0.container', 'ports.1'].map(at),
  )
  const written = world.commands.createInstallation(USER, {
    ...{ project: 'default', name: 'shop', reconcile: true },
    spec: spec({}),
  })
  expect((await refusal(written)).fields).toEqual([
    { path: 'input.spec.deployItems.0.config', message: expect.stringContaining('image') },
  ])
})

test('a deployer that knows more settings replaces no service that does without them', () => {
  const config = { mode: 'service', image: 'app:1', env: { A: 1 }, ports: [{ container: 80 }], secrets: { P: 'x' } }
  expect(digestOf(readConfig(config))).toBe('bfc789b566469605')
  const digests = [
    { networks: ['back'] },
    { networks: ['front'] },
    { tmpfs: ['/run'] },
    { workingDir: '/srv' },
    { capabilities: ['CHOWN'] },
    { volumes: [{ name: 'data', path: '/data' }] },
    { volumes: [{ name: 'data', path: '/data', onDelete: 'remove' }] },
  ].map((more) => digestOf(readConfig({ ...config, ...more })))
  expect(new Set(digests).size).toBe(6)
})
