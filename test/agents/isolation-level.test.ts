import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { chooseLevel, readIsolation } from '../../src/families/pipelines/agents/process/isolation.ts'
import { canIsolate, ISOLATED } from '../testkit/bubblewrap.ts'
import { place } from './process-place.ts'

afterEach(() => void vi.unstubAllEnvs())

test('without bubblewrap nothing runs unless it is declared trusted, and the operator reads why', async () => {
  vi.stubEnv('PATH', '/nonexistent')
  expect(await chooseLevel({ ...ISOLATED, level: 'isolated' }, '/data')).toEqual({
    options: null,
    isWarning: true,
    reason: expect.stringMatching(
      /^off, since bubblewrap \(bwrap\) is not installed\. To isolate them, install bubblewrap 0\.8/,
    ),
  })
  await using at = await place()
  await expect(at.open({ isolation: ISOLATED })).rejects.toThrow('bubblewrap (bwrap) is not installed')
  expect(await chooseLevel({ ...ISOLATED, level: 'trusted' }, '/data')).toMatchObject({
    options: { isolation: 'trusted' },
    isWarning: true,
    reason: expect.stringContaining('can do and read what the user of this server can'),
  })
})

test.runIf(await canIsolate())('what the server chooses is what the process of the agent reads', async () => {
  const settings = { network: 'host', folders: ['/usr/local', '/usr/share'] } as const
  vi.spyOn(process, 'getuid').mockReturnValueOnce(1_000)
  const { options, ...told } = await chooseLevel({ ...settings, level: 'isolated' }, '/data')
  expect(told).toEqual({ reason: 'isolated by bubblewrap, with the network of this machine', isWarning: false })
  expect(readIsolation(options ?? {})).toEqual(settings)
  vi.spyOn(process, 'getuid').mockReturnValueOnce(0)
  expect(await chooseLevel({ ...settings, level: 'isolated' }, '/data')).toEqual({
    options,
    reason: expect.stringContaining('run it as a user of its own'),
    isWarning: true,
  })
})

test('nothing runs where isolated workloads would see the data folder, through links too', async () => {
  await using stack = new AsyncDisposableStack()
  const outer = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-outer-')), (path) => rm(path, { recursive: true }))
  await mkdir(join(outer, 'data'))
  const link = `${outer}-link`
  await symlink(outer, link)
  stack.defer(() => rm(link))
  const settings = { level: 'isolated', network: 'api' } as const
  for (const [folders, dataDir] of [
    [[], '/usr/share'],
    [[outer], join(outer, 'data')],
    [[link], join(outer, 'data')],
    [[outer], join(link, 'data')],
  ] as const) {
    const { options, reason } = await chooseLevel({ ...settings, folders }, dataDir)
    expect([options, reason]).toEqual([null, expect.stringContaining('workloads would see the files of the runtime')])
  }
})

test('a process of its own isolates by default, and refuses what it does not know', () => {
  expect(readIsolation({})).toEqual(ISOLATED)
  expect(readIsolation({ isolation: 'trusted' })).toBeNull()
  const refused = [{ isolation: 'on' }, { network: 'none' }, { folders: 'tools' }]
  for (const options of refused) expect(() => readIsolation(options)).toThrow(/^--(isolation|network|folders) must be/)
})
