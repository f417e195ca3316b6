import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { CONTAINER_SCHEMA } from '../../../../src/core/deployers/container.ts'
import { interpolate, readEnvFile } from '../../../../src/families/deployments/cli/import/interpolate.ts'
import { parseManifests } from '../../../../src/manifest/index.ts'
import { ConfigCheck } from '../../../../src/sandbox/check-config.ts'
import { commandLine } from '../../../cli/command.ts'

const CHECK = new ConfigCheck(CONTAINER_SCHEMA)
const phaseline = commandLine({ TAG: '7', SHARED: 'outer' })

/** Imports a Compose file with the files beside it. */
async function importOf(compose: string, files: Readonly<Record<string, string>> = {}, more = '--name shop') {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-compose-'))
  try {
    for (const [name, text] of Object.entries({ 'compose.yaml': compose, ...files })) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    const ran = await phaseline(`import compose ${join(folder, 'compose.yaml')} ${more}`)
    const parsed = ran.code === 0 ? parseManifests(ran.out) : null
    const [manifest] = parsed?.ok ? parsed.manifests : []
    const items = (manifest?.spec.deployItems ?? []).map(({ name, dependsOn = [], config }) => {
      expect(CHECK.problemsOf(config, name)).toEqual([])
      return { name, dependsOn, config: config as Readonly<Record<string, unknown>> }
    })
    const configOf = (name: string) => items.find((item) => item.name === name)?.config ?? {}
    return { ...ran, name: manifest?.name, items, configOf, left: ran.err.trimEnd().split('\n') }
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('variables are those of the environment and of .env, with defaults, and a dollar can be written', () => {
  const lookup = (name: string) =>
    new Map([
      ['A', 'a'],
      ['EMPTY', ''],
    ]).get(name)
  const unset: string[] = []
  const text = '$A ${A}b ${NO:-d-${A}} ${EMPTY-x}|${EMPTY:-x} ${A:+yes}${NO+no} $$A $1 ${NO}'
  expect(interpolate(text, lookup, (name) => unset.push(name))).toBe('a ab d-a |x yes $A $1 ')
  expect(unset).toEqual(['NO'])
  expect(() => interpolate('${NO:?say it}', lookup)).toThrow('the variable NO is required: say it')
  expect(() => interpolate('${A', lookup)).toThrow('has no closing brace')
  const env = `# a comment\nexport B=1 # one\nC='$A # x'\nD="two\\nlines $B"\nE=a#b\nA\nNO\n`
  expect(Object.fromEntries(readEnvFile(env, lookup))).toEqual({
    B: '1',
    C: '$A # x',
    D: 'two\nlines 1',
    E: 'a#b',
    A: 'a',
  })
})

test('a service becomes an item with all that it says', async () => {
  const { code, items, configOf, left } = await importOf(
    `
x-env: &env { SHARED: plain, "discovery.type": single-node }
services:
  web.app:
    image: shop:\${TAG}
    container_name: shopfront
    entrypoint: /bin/app --name 'two words'
    command: ["serve", "$\${PORT}"]
    environment: { <<: *env, PORT: 80, FROM_OUTSIDE: }
    env_file: [app.env, { path: none.env, required: false }]
    ports: ["127.0.0.1:8080:80", "\${ADMIN:-9000}:9000/tcp", "53:53/udp", "3000-3001:3000-3001", 7000]
    networks: { front: , back: { aliases: [www] } }
    depends_on: { db: { condition: service_healthy }, migrate: { condition: service_completed_successfully } }
    tmpfs: /run:size=1m
    read_only: true
    user: "1000:1000"
    cap_drop: [ALL]
    cap_add: [NET_BIND_SERVICE, SYS_ADMIN]
    stop_grace_period: 1m30s
    working_dir: /srv/
    deploy: { replicas: 2, resources: { limits: { cpus: "0.5", memory: 50M } } }
    restart: on-failure:3
    configs: [{ source: site, target: /etc/site.conf }]
    volumes: [./site:/site, "data:/data/:ro", /scratch, /var/run/docker.sock:/var/run/docker.sock]
  db:
    image: postgres
    networks: [back]
    healthcheck: { test: pg_isready -q, interval: 5s, timeout: 1s, retries: 4, start_period: 12s }
    shm_size: 1g
  migrate: { image: migrate, networks: [back], command: up, restart: "no" }
  debug: { image: debug, profiles: [debug] }
networks: { front: { name: shared }, back: { internal: true } }
volumes: { data: { external: true } }
configs: { site: { file: ./site.conf } }
`,
    {
      'app.env': 'SHARED=file\nONLY=file\n',
      '.env': 'ADMIN=9001\nSHARED=inner\nFROM_OUTSIDE=dot\n',
      'site.conf': 'a ${b}\n',
    },
  )
  expect(code).toBe(0)
  expect(items.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
    ['web-app', ['db', 'migrate']],
    ['db', []],
    ['migrate', []],
  ])
  expect(configOf('web-app')).toEqual({
    ...{ mode: 'service', image: 'shop:7', command: ['/bin/app', '--name', 'two words'], args: ['serve', '$${PORT}'] },
    env: { SHARED: 'plain', ONLY: 'file', 'discovery.type': 'single-node', PORT: '80', FROM_OUTSIDE: 'dot' },
    ...{
      user: '1000:1000',
      workingDir: '/srv',
      networks: ['shared', 'shop-back'],
      aliases: ['web.app', 'shopfront', 'www'],
    },
    files: { '/etc/site.conf': 'a $${b}\n' },
    volumes: [{ name: 'data', path: '/data', readOnly: true }],
    ...{ tmpfs: ['/run'], memory: '50m', cpus: 0.5, capabilities: ['NET_BIND_SERVICE'], graceMs: 90_000 },
    ports: [{ container: 80, host: 8080 }, { container: 9000, host: 9001 }, { container: 7000 }],
    restart: 'on-failure',
  })
  expect(configOf('db')).toMatchObject({
    health: { command: ['/bin/sh', '-c', 'pg_isready -q'], intervalMs: 5_000, timeoutMs: 1_000, retries: 7 },
    ...{ writableRoot: true, capabilities: expect.arrayContaining(['CHOWN', 'SETUID']) },
  })
  expect(configOf('migrate')).toMatchObject({ mode: 'job', args: ['up'], output: 'text', networks: ['shop-back'] })
  for (const what of [
    'the service debug is left out: it has a profile',
    'web.app: cap_add SYS_ADMIN is left out',
    'web.app: deploy.replicas is left out',
    'web.app: its ports are published on 127.0.0.1 only',
    'web.app: the count of restarts is left out',
    'web.app: internal of the network back is left out',
    'db: shm_size is left out',
  ])
    expect(left).toContain(what)
  expect(left.filter((line) => /docker\.sock|at \/site |53:53|3000-3001|\/scratch/.test(line))).toHaveLength(5)
})

test('a file that is none, or of which nothing runs, is refused with its reason', async () => {
  const errorOf = async (compose: string, more?: string) => {
    const { code, err, out } = await importOf(compose, {}, more)
    expect([code, out]).toEqual([2, ''])
    return err
  }
  expect(await errorOf('name: shop')).toMatch(/cannot be imported: it has no services\./)
  expect(await errorOf('[1, 2]')).toMatch(/it is no Compose file/)
  expect(await errorOf('services: {a: {image: "')).toMatch(/INVALID_INPUT: .*cannot be imported/)
  expect(await errorOf('services: {a: {image: "${NO:?which}"}}')).toMatch(/the variable NO is required: which/)
  expect(await errorOf('services: {a: {image: x, profiles: [p]}}')).toMatch(/nothing of it runs/)
  expect(await errorOf('services: {a.b: {image: x}, a-b: {image: x}}')).toMatch(/too much alike/)
  expect(await errorOf('services: {a: {image: x}}', '--name 7')).toMatch(/--name must start with a letter/)
  expect((await phaseline('import compose /no/such')).code).toBe(2)
  expect(await importOf('services: {a: {image: x}}', {}, '-o /no/such/folder/x.yaml')).toMatchObject({ code: 2 })
  expect((await importOf('services: {a: {image: x}}', {}, '-o package.json')).err).toContain(
    'package.json exists: name a new file.',
  )
})
