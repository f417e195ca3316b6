import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { loadSecretKeys } from '../../src/secret-keys.ts'
import { createSealing, SEALED_OVERHEAD } from '../../src/store/sealing.ts'

const system = { secret: (bytes: number) => randomBytes(bytes) }
const place = { projectId: 'd2e0a3f4-0000-7000-8000-000000000001', name: 'TOKEN' }
const [old, fresh] = [randomBytes(32), randomBytes(32)]

describe('sealing', () => {
  test('what was sealed opens, at its place only, and is never the same twice', () => {
    const sealing = createSealing([fresh], system)
    const sealed = sealing.seal(place, 'häss\n')
    expect(sealing.open(place, sealed)).toBe('häss\n')
    expect(sealed.byteLength).toBe(SEALED_OVERHEAD + 6)
    expect(sealed.includes('ss')).toBe(false)
    expect(sealing.seal(place, 'häss\n').equals(sealed)).toBe(false)
    expect(sealing.open({ ...place, name: 'OTHER' }, sealed)).toBeNull()
    expect(sealing.open({ ...place, projectId: place.projectId.replace('1', '2') }, sealed)).toBeNull()
  })

  test('a changed byte, wherever it is, is noticed', () => {
    const sealing = createSealing([fresh], system)
    const sealed = sealing.seal(place, 'secret')
    for (let i = 0; i < sealed.byteLength; i++) {
      const changed = Buffer.from(sealed)
      changed[i] = (changed[i] as number) ^ 1
      expect(sealing.open(place, changed), `byte ${i}`).toBeNull()
    }
    for (let length = 0; length < sealed.byteLength; length++)
      expect(sealing.open(place, sealed.subarray(0, length))).toBeNull()
  })

  test('a key can be replaced while it is in use', () => {
    const before = createSealing([old], system).seal(place, 'kept')
    const both = createSealing([fresh, old], system)
    expect(both.open(place, before)).toBe('kept')
    const after = both.seal(place, 'new')
    expect(createSealing([fresh], system).open(place, after)).toBe('new')
    expect(createSealing([fresh], system).open(place, before)).toBeNull()
    const signed = createSealing([old], system).sign('a', Buffer.from('x')) as Buffer
    expect(both.verify('a', Buffer.from('x'), signed)).toBe(true)
    expect(both.verify('b', Buffer.from('x'), signed)).toBe(false)
    expect(createSealing([fresh], system).verify('a', Buffer.from('x'), signed)).toBe(false)
  })

  test('without a key nothing is sealed, opened or signed', () => {
    const none = createSealing([], system)
    expect(none.canSeal).toBe(false)
    expect(none.open(place, createSealing([old], system).seal(place, 'x'))).toBeNull()
    expect(none.sign('a', Buffer.from('x'))).toBeNull()
    expect(none.verify('a', Buffer.from('x'), Buffer.alloc(32))).toBe(false)
    expect(() => none.seal(place, 'hunter2')).toThrow(/^((?!hunter2).)*$/s)
  })
})

describe('keys', () => {
  let dataDir = ''
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'keys-'))
  })
  afterAll(() => rm(dataDir, { recursive: true }))
  const load = async (keys: readonly Uint8Array[] = [], url?: string) => {
    const secretKeys = keys.map((key) => new Secret(key))
    const loaded = await loadSecretKeys({ secretKeys, databaseUrl: url ? new Secret(url) : undefined, dataDir })
    return loaded.map((key) => key.reveal())
  }

  test('embedded: generated once, in a private file; those of the environment come first', async () => {
    expect(await load([fresh])).toEqual([fresh])
    const made = await load()
    expect(made).toHaveLength(1)
    expect(await load()).toEqual(made)
    expect((await stat(join(dataDir, 'secret-key'))).mode & 0o777).toBe(0o600)
    expect(await load([fresh])).toEqual([fresh, ...made])
    await writeFile(join(dataDir, 'secret-key'), `${fresh.toString('base64')}\n${old.toString('base64')}\n`)
    expect(await load()).toEqual([fresh, old])
  })

  test('an external database: only those of the environment', async () => {
    expect(await load([], 'postgres://db/x')).toEqual([])
    expect(await load([fresh], 'postgres://db/x')).toEqual([fresh])
  })

  test.each(['', 'hunter2', old.toString('hex')])('a file with %j is refused and not changed', async (text) => {
    const file = join(dataDir, 'secret-key')
    await writeFile(file, text)
    const problem = await load().catch((error: Error) => error)
    expect(problem).toMatchObject({ name: 'SecretKeyProblem' })
    if (text) expect(String(problem)).not.toContain(text)
    expect(await readFile(file, 'utf8')).toBe(text)
  })
})
