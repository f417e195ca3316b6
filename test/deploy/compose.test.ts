import { execFileSync, spawnSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { configOf, IMAGE_ENV, ROOT, readText, VERSION } from './settings.ts'

/** The compose file starts what it says: its settings are ours, and what they name is there. */

interface Service {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly networks: Readonly<Record<string, unknown>>
}
const FILE = 'deploy/compose/compose.yaml'
/** Variables of the file itself have their defaults. */
const text = readText(FILE).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
const { services, secrets, networks } = parse(text, { merge: true }) as Compose
const ours = Object.entries(services).filter(([, { image }]) => image.includes('phaseline'))

test.each(ours)('%s', async (name, service) => {
  expect(service.image).toBe(`localhost/phaseline:${VERSION}`)
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], init: true })
  const files = (service.secrets ?? []).map((secret) => `/run/secrets/${secret}`)
  const config = await configOf({ ...IMAGE_ENV, ...service.environment }, files)
  expect([...config.roles]).toEqual([name])
  expect(config.admin).toEqual({ host: '0.0.0.0', port: 9090 })
  // A service that needs no secret gets none.
  expect([config.databaseUrl !== undefined, config.secretKeys.length > 0]).toEqual(
    name === 'agents' ? [false, false] : [true, true],
  )
  if (name === 'agents') expect(URL.parse(config.agentsUrl ?? '')?.host).toBe('gateway:4000')
  if (name === 'gateway') {
    expect(config.allowedHosts).toContain('gateway')
    expect(service.ports?.[0]).toBe(`127.0.0.1:4000:${config.port}`)
  }
})

test('it names no secret, network or file that is not there', async () => {
  for (const { secrets: used = [], networks: joined } of Object.values(services)) {
    expect(Object.keys(secrets)).toEqual(expect.arrayContaining([...used]))
    expect(Object.keys(networks)).toEqual(expect.arrayContaining([...joined]))
  }
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-compose-'))
  try {
    await cp(join(ROOT, 'deploy/compose/make-secrets'), join(folder, 'make-secrets'))
    execFileSync(join(folder, 'make-secrets'))
    const made = await readdir(join(folder, 'secrets'))
    expect(Object.values(secrets).map(({ file }) => file)).toEqual(made.map((file) => `./secrets/${file}`))
    const password = await readFile(join(folder, 'secrets/postgres-password'), 'utf8')
    expect(await readFile(join(folder, 'secrets/database-url'), 'utf8')).toContain(`:${password}@postgres:`)
    // A second run would lock everybody out.
    expect(spawnSync(join(folder, 'make-secrets')).status).toBe(1)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('docker compose reads it', (context) => {
  const { status, stderr } = spawnSync('docker', ['compose', '-f', join(ROOT, FILE), 'config', '--quiet'], {
    encoding: 'utf8',
  })
  if (status !== 0 && !/services|compose\.yaml/.test(stderr ?? ''))
    return context.skip('docker compose is not installed')
  expect([status, stderr]).toEqual([0, ''])
})
