import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { InvalidArgumentError } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConnectionOptions, DEFAULT_URL, findConnection } from '../../src/cli/connection.ts'
import { parseAddress } from '../../src/cli/objects/address.ts'
import {
  parseCount,
  parseKind,
  parseKinds,
  parseLabel,
  parsePhases,
  parsePlace,
  parseSelector,
  parseTime,
} from '../../src/cli/options.ts'
import type { Io } from '../../src/cli/terminal/io.ts'
import { wantsColour } from '../../src/cli/terminal/paint.ts'
import { isConfirmed } from '../../src/cli/terminal/terminal-input.ts'
import { writeServedAddress } from '../../src/process/served-address.ts'
import { servedOrigin } from '../../src/start/served-origin.ts'

describe('parseAddress', () => {
  it.each([
    ['shop', { by: 'path', path: ['shop'] }],
    ['/shop/backend/', { by: 'path', path: ['shop', 'backend'] }],
    ['backend-of-the-shop', { by: 'path', path: ['backend-of-the-shop'] }],
    ['/', { by: 'nothing' }],
    ['', { by: 'nothing' }],
  ])('%j', (text, expected) => {
    expect(parseAddress(text)).toEqual(expected)
  })

  it('takes a UUID for an id', () => {
    const id = '0198a7c2-7d11-7abc-8def-0123456789ab'
    expect(parseAddress(id)).toEqual({ by: 'id', id })
    expect(parseAddress(`shop/${id}`)).toEqual({ by: 'path', path: ['shop', id] })
  })
})

describe('option values', () => {
  it('takes enum values in the usual spellings', () => {
    expect(parseKind('deploy-item')).toBe('DEPLOY_ITEM')
    expect(parseKinds('Job,gadget_job')).toEqual(['JOB', 'GADGET_JOB'])
    expect(parsePhases('failed,delete_failed', ['ABORTED'])).toEqual(['ABORTED', 'FAILED', 'DELETE_FAILED'])
    for (const wrong of ['', '7', 'x){y']) expect(() => parseKind(wrong)).toThrow(InvalidArgumentError)
  })

  it('takes only whole, safe numbers', () => {
    expect(parseCount('0')).toBe(0)
    expect(parsePlace('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER)
    for (const wrong of ['-1', '1.5', '1e3', '', '2147483648']) {
      expect(() => parseCount(wrong)).toThrow(InvalidArgumentError)
    }
    expect(() => parsePlace('9007199254740993')).toThrow(InvalidArgumentError)
  })

  it('takes a time of a person, or how long ago it was', () => {
    const minutesAgo = (text: string): number => Math.round((Date.now() - Date.parse(parseTime(text))) / 60_000)
    for (const text of ['90m', '-90m', '1h30m ago']) expect(minutesAgo(text)).toBe(90)
    expect(parseTime('2026-01-31T12:00:00Z')).toBe('2026-01-31T12:00:00.000Z')
    expect(minutesAgo('yesterday')).toBeGreaterThanOrEqual(23 * 60)
    for (const wrong of ['', 'soon', '-', 'ago', '--5m']) expect(() => parseTime(wrong)).toThrow(InvalidArgumentError)
  })

  it('splits labels at the first equals sign', () => {
    expect(parseLabel('a=b=c', parseLabel('x='))).toEqual([
      { key: 'x', value: '' },
      { key: 'a', value: 'b=c' },
    ])
    expect(() => parseLabel('=b')).toThrow(InvalidArgumentError)
  })

  it('splits selectors at commas that no backslash escapes', () => {
    expect(parseSelector(String.raw`a=1,b=x\,y`, parseLabel('c='))).toEqual([
      { key: 'c', value: '' },
      { key: 'a', value: '1' },
      { key: 'b', value: 'x,y' },
    ])
    expect(() => parseSelector('a=1,b')).toThrow(InvalidArgumentError)
  })
})

const ORIGIN = 'http://127.0.0.1:4100'

describe('findConnection', () => {
  const connect = (options: ConnectionOptions, env: Io['env']) =>
    findConnection(options, { env: { XDG_CONFIG_HOME: folder, ...env }, stderr: { write: () => true } })
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'phaseline-cli-'))
    await writeFile(join(folder, 'token'), 'embedded-token\n', { mode: 0o600 })
    await writeFile(join(folder, 'other'), 'file-token\n')
    await writeFile(join(folder, 'wrong'), 'two words\n')
    await chmod(join(folder, 'token'), 0o600)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('prefers --token-file to PHASELINE_TOKEN to PHASELINE_TOKEN_FILE to the embedded token', async () => {
    const env = { PHASELINE_DATA: folder, PHASELINE_TOKEN: 'from-env' }
    const tokenFile = join(folder, 'other')
    expect(await connect({ tokenFile }, env)).toMatchObject({ token: 'file-token', url: DEFAULT_URL })
    expect(await connect({}, env)).toMatchObject({ token: 'from-env' })
    const named = { PHASELINE_DATA: folder, PHASELINE_TOKEN_FILE: tokenFile }
    expect(await connect({}, named)).toMatchObject({ token: 'file-token' })
    expect(await connect({}, { ...env, ...named })).toMatchObject({ token: 'from-env' })
    await using _served = await writeServedAddress(folder, ORIGIN)
    expect(await connect({}, { PHASELINE_DATA: folder })).toMatchObject({ source: join(folder, 'token') })
  })

  it('calls the server of the data folder unless another one is named', async () => {
    const env = { PHASELINE_DATA: folder, PHASELINE_TOKEN: 't' }
    expect(await connect({}, env)).toMatchObject({ url: DEFAULT_URL })
    await using _served = await writeServedAddress(folder, ORIGIN)
    expect(await connect({}, env)).toMatchObject({ url: `${ORIGIN}/graphql` })
    expect(await connect({}, { ...env, PHASELINE_URL: 'http://a/' })).toMatchObject({ url: 'http://a/graphql' })
    // Anybody could have written it.
    await chmod(folder, 0o777)
    expect(await connect({}, env)).toMatchObject({ url: DEFAULT_URL })
    await chmod(folder, 0o700)
  })

  it('prefers --url to PHASELINE_URL', async () => {
    const env = { PHASELINE_TOKEN: 't', PHASELINE_URL: 'http://a/graphql' }
    expect(await connect({}, env)).toMatchObject({ url: 'http://a/graphql' })
    expect(await connect({ url: 'http://b/graphql' }, env)).toMatchObject({ url: 'http://b/graphql' })
  })

  it.each([
    ['http://127.0.0.1:4100', /^http:\/\/127\.0\.0\.1:4100$/],
    ['http://0.0.0.0:4100', /^http:\/\/127\.0\.0\.1:4100$/],
    ['http://[::]:4100', /^http:\/\/\[::1\]:4100$/],
    ['http://localhost:4100', /^http:\/\/(127\.0\.0\.1|\[::1\]):4100$/],
    ['https://localhost:4100', /^https:\/\/localhost:4100$/],
    ['http://192.0.2.1:4100', /^http:\/\/192\.0\.2\.1:4100$/],
  ])('calls a server that listens at %s by an address of this machine', async (origin, expected) => {
    expect(await servedOrigin(origin)).toMatch(expected)
  })

  it('sends the embedded token to the living server of its folder only', async () => {
    const env = { PHASELINE_DATA: folder }
    const noServer = { ok: false, message: expect.stringContaining('No server runs on the data folder') }
    expect(await connect({}, env)).toMatchObject(noServer)
    const relative = await connect({}, { PHASELINE_DATA: 'none' })
    expect(relative).toMatchObject({ message: expect.stringContaining(`${resolve('none')}: start it`) })
    // Somebody who names a server lacks a token, and maybe no server.
    const named = await connect({ url: 'http://127.0.0.1:4101' }, env)
    expect(named).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^No token for 127\.0\.0\.1:4101\. No server/),
    })
    const serving = await writeServedAddress(folder, ORIGIN)
    expect((await stat(join(folder, 'address'))).mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([])
    const found = await connect({}, env)
    const token = found.ok ? found.token : ''
    if (typeof token === 'string') throw new Error('the token does not follow the server')
    expect(await token()).toBe('embedded-token')
    // Another program may have this port at its other address.
    expect(await connect({ url: 'http://localhost:4100' }, env)).toMatchObject({ url: `${ORIGIN}/graphql` })
    for (const url of ['http://127.0.0.1:4101', 'https://127.0.0.1:4100', DEFAULT_URL])
      expect(await connect({ url }, env), url).toMatchObject({ ok: false, message: expect.stringContaining(ORIGIN) })

    // It has ended, and a client that follows it connects again.
    await serving[Symbol.asyncDispose]()
    await expect(async () => token()).rejects.toMatchObject({ kind: 'network', retryable: true })
    // It was killed, and another process has its pid.
    await writeFile(join(folder, 'address'), `${ORIGIN}\n${process.pid} another-start\n`)
    expect(await connect({}, env)).toMatchObject(noServer)
    expect(await connect({ url: ORIGIN }, env)).toMatchObject(noServer)
    await rm(join(folder, 'address'))
  })

  it('never sends the embedded token to another machine', async () => {
    const env = { PHASELINE_DATA: folder }
    for (const url of [
      'https://example.org/graphql',
      'http://127.0.0.1.example.org/graphql',
      'http://localhost.evil/',
    ]) {
      expect(await connect({ url }, env)).toMatchObject({ ok: false })
    }
    await using _served = await writeServedAddress(folder, 'http://192.0.2.1:4100')
    expect(await connect({}, env)).toMatchObject({
      ok: false,
      message: expect.stringMatching('No token for 192.0.2.1'),
    })
  })

  it('says what is missing and never what a file holds', async () => {
    const missing = await connect({ tokenFile: join(folder, 'none') }, {})
    expect(missing).toMatchObject({ ok: false, message: expect.stringContaining('ENOENT') })
    const wrong = await connect({ tokenFile: join(folder, 'wrong') }, {})
    expect(wrong.ok || wrong.message).not.toContain('two words')
    expect(await connect({ url: 'http://user:pw@localhost/' }, { PHASELINE_TOKEN: 't' })).toMatchObject({
      ok: false,
    })
    expect(await connect({ url: 'ftp://localhost/' }, { PHASELINE_TOKEN: 't' })).toMatchObject({ ok: false })
  })
})

describe('wantsColour', () => {
  const terminal = { write: () => true, isTTY: true }
  const pipe = { write: () => true }
  it.each([
    [terminal, {}, true],
    [pipe, {}, false],
    [terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    [terminal, { NO_COLOR: '' }, true],
    [terminal, { TERM: 'dumb' }, false],
    [pipe, { FORCE_COLOR: '1' }, true],
    [terminal, { FORCE_COLOR: '0' }, false],
  ])('case %#', (out, env, expected) => {
    expect(wantsColour(out, env)).toBe(expected)
  })
})

describe('isConfirmed', () => {
  const io = (typed: string, isTTY: boolean) => {
    const said: unknown[] = []
    const stdin = Object.assign(Readable.from([Buffer.from(typed)]), { isTTY })
    return {
      said,
      stdin,
      stderr: { write: (text: unknown) => said.push(String(text)) },
      signal: new AbortController().signal,
    }
  }

  it('asks on a terminal only, and not with --yes', async () => {
    for (const [typed, answer] of [
      ['y\n', true],
      ['n\n', false],
      ['', false],
    ] as const)
      expect(await isConfirmed(io(typed, true), {}, 'Delete it?')).toBe(answer)
    const certain = io('', true)
    expect([await isConfirmed(certain, { yes: true }, 'Delete it?'), certain.said]).toEqual([true, []])
  })

  it('asks again at the same terminal, as a command on several objects does', async () => {
    const typed = new PassThrough()
    const both = Object.assign(io('', true), { stdin: Object.assign(typed, { isTTY: true }) })
    typed.write('y\n')
    expect(await isConfirmed(both, {}, 'Delete a?')).toBe(true)
    // Text that is typed ahead answers the questions that come.
    typed.write('yes\r\nn\ny\n')
    for (const [name, answer] of [
      ['b', true],
      ['c', false],
      ['d', true],
    ] as const)
      expect(await isConfirmed(both, {}, `Delete ${name}?`), name).toBe(answer)
    typed.end()
    expect(await isConfirmed(both, {}, 'Delete e?')).toBe(false)
  })

  it('announces without a terminal, once, that --yes will be needed', async () => {
    const script = io('', false)
    for (const name of ['a', 'b']) expect(await isConfirmed(script, {}, async () => `Delete ${name}?`)).toBe(true)
    expect(script.said).toEqual([expect.stringMatching(/^A next version will need --yes here.*\n$/)])
    const certain = io('', false)
    expect([await isConfirmed(certain, { yes: true }, 'Delete it?'), certain.said]).toEqual([true, []])
  })
})
