import { once } from 'node:events'
import { chmod, mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { problemOfSurroundings } from '../../src/core/surroundings.ts'
import { freePort } from '../testkit/redis.ts'

/** Errors as the system, the runtime and their libraries make them. */

const errorOf = (work: () => Promise<unknown>): Promise<unknown> =>
  work().then(
    () => null,
    (error: unknown) => error,
  )

test('nothing listens there, through a library, too', async () => {
  const port = await freePort()
  const sentence = `Nothing listens at 127.0.0.1:${port}: start it, or check the address.`
  expect(problemOfSurroundings(await errorOf(() => once(connect(port, '127.0.0.1'), 'connect')))).toBe(sentence)
  expect(problemOfSurroundings(await errorOf(() => fetch(`http://127.0.0.1:${port}`)))).toBe(sentence)
})

test('a port that is taken, and an address of another machine', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  const listen = async (host: string) => {
    const another = createTcpServer().listen(port, host)
    await once(another, 'listening')
  }
  expect(problemOfSurroundings(await errorOf(() => listen('127.0.0.1')))).toBe(
    `Another process listens at 127.0.0.1:${port}: end it, or choose another port (--port or PORT, PHASELINE_ADMIN_PORT).`,
  )
  expect(problemOfSurroundings(await errorOf(() => listen('192.0.2.1')))).toMatch(
    /^This machine has no address 192\.0\.2\.1:\d+: choose one/,
  )
})

test('a folder that is none, and one of another user', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'phaseline-surroundings-'))
  const file = join(folder.path, 'file')
  await writeFile(file, '')
  expect(problemOfSurroundings(await errorOf(() => mkdir(join(file, 'data'))))).toBe(
    `${join(file, 'data')} leads through a file that is no folder: name another one.`,
  )
  // Root may write everywhere but here.
  const locked = process.getuid?.() === 0 ? '/proc/phaseline' : join(folder.path, 'locked')
  if (!locked.startsWith('/proc')) await chmod(folder.path, 0o500)
  const error = await errorOf(() => mkdir(locked))
  if ((error as NodeJS.ErrnoException).code === 'EACCES')
    expect(problemOfSurroundings(error)).toBe(
      `This user may not mkdir ${locked}: change its owner or its mode, or name another one.`,
    )
})

test.each([
  ['EACCES', { syscall: 'open', path: '/data' }, 'This user may not open /data: change its owner'],
  [
    'ENOENT',
    { syscall: 'open', path: '/data/seals' },
    '/data/seals or its folder does not exist: check how it is written',
  ],
  ['EACCES', { syscall: 'listen', address: '::', port: 443 }, 'This user may not listen at [::]:443: choose a port'],
  ['ENOSPC', { syscall: 'write', path: '/data/token' }, 'There is no space left for /data/token: free some'],
  ['EROFS', { path: '/data' }, '/data is on a file system without writing'],
  ['ENOTFOUND', { hostname: 'nowhere.test' }, 'The name nowhere.test is not found'],
  ['EMFILE', {}, 'Too many files and connections are open'],
  ['CERT_HAS_EXPIRED', {}, 'The certificate of the other side is not trusted (it failed): renew it'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', {}, 'The certificate of the other side is not trusted'],
])('%s, %j', (code, details, sentence) => {
  const error = Object.assign(new Error('it failed'), { code, ...details })
  expect(problemOfSurroundings(error)).toContain(sentence)
  expect(problemOfSurroundings(new Error('wrapped', { cause: error }))).toContain(sentence)
  expect(problemOfSurroundings(new AggregateError([error]))).toContain(sentence)
})

test.each([
  new TypeError('x is not a function'),
  Object.assign(new Error('x'), { code: 'ERR_ASSERTION' }),
  'text',
  null,
])('a defect stays one: %s', (error) => {
  expect(problemOfSurroundings(error)).toBeNull()
})
