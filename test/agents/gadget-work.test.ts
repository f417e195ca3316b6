import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { InterimReport, WorkContext, WorkItem } from '../../src/client/index.ts'
import { gadgetWork } from '../../src/families/deployments/agents/gadget-work.ts'
import { type GadgetFolder, gadgetFolder } from './gadget-folder.ts'

const item = (config: unknown, given: Partial<WorkItem> = {}): WorkItem => ({
  fence: 'f',
  objectId: 'o',
  kind: 'DEPLOY_ITEM',
  name: 'x',
  jobId: null,
  action: 'RECONCILE',
  type: 'gadget',
  target: null,
  config,
  attempt: 1,
  token: null,
  ...given,
})
function context() {
  const [stop, lost] = [new AbortController(), new AbortController()]
  const reports: InterimReport[] = []
  const lines: string[] = []
  const given: WorkContext = {
    signal: stop.signal,
    lost: lost.signal,
    report: (report) => reports.push(report),
    log: (stream, text) => lines.push(`${stream} ${text}`),
  }
  return { ...given, stop, lostBy: lost, reports, lines }
}
const workIn = (folder: GadgetFolder, env: Record<string, string> = {}) =>
  gadgetWork({ folders: [folder.path], env: { PATH: process.env.PATH, PHASELINE_TOKEN: 'x', ...env }, graceMs: 2_000 })

describe('the gadget deployer', () => {
  it('deploys and uninstalls with the same arguments', async () => {
    await using folder = await gadgetFolder()
    await folder.add(
      'file',
      'echo "$@" >> "$dir/calls"; [ "$2" = --undo ] && exit 0; echo STEP Making; echo EXPORT n 7; echo note >&2',
    )
    const work = workIn(folder)
    const seen = context()
    const config = { gadget: 'file', args: ['a', 1, true] }
    expect(await work(item(config), seen)).toEqual({ phase: 'SUCCEEDED', exports: { n: 7 } })
    expect(await work(item(config, { action: 'DELETE' }), seen)).toEqual({ phase: 'GONE' })
    expect(await folder.read('calls')).toBe('--protocol=text-1.0 a 1 true\n--protocol=text-1.0 --undo a 1 true\n')
    expect(seen.reports).toEqual([{ progress: { step: 'Making', value: null, total: null, unit: null } }])
    expect([...seen.lines].sort()).toEqual(['STDERR note', 'STEP Making'])
  })

  it('runs only executables of its folder, and refuses variables that interpreters read', async () => {
    await using folder = await gadgetFolder()
    await symlink('/bin/true', join(folder.path, 'link'))
    await folder.add('env', 'env > "$dir/env"')
    const work = workIn(folder)
    for (const gadget of ['../env', '/bin/true', 'link', 'missing', '.', '', 'a/b', '-x', 'env\0']) {
      const outcome = await work(item({ gadget }), context())
      expect(outcome, gadget).toMatchObject({ phase: 'FAILED', error: { code: 'GADGET_NOT_FOUND' } })
    }
    expect(await work(item({ gadget: 'missing' }), context())).toMatchObject({
      error: {
        message: `There is no gadget missing in ${folder.path}: there are env. PHASELINE_GADGETS names the folders.`,
      },
    })
    for (const name of ['LD_PRELOAD', 'NODE_OPTIONS', 'PATH', 'GADGET_a', 'xGADGET_A']) {
      const outcome = await work(item({ gadget: 'env', env: { [name]: '1' } }), context())
      expect(outcome, name).toMatchObject({ phase: 'FAILED', error: { code: 'GADGET_CONFIG' } })
    }
    for (const argument of ['--undo', '--abort', '--protocol=text-1.0']) {
      const outcome = await work(item({ gadget: 'env', args: ['x', argument] }), context())
      expect(outcome, argument).toMatchObject({ phase: 'FAILED', error: { code: 'GADGET_CONFIG' } })
    }
    await work(item({ gadget: 'env', env: { GADGET_COLOUR: 'teal' } }, { projectId: 'staging-id' }), context())
    const env = await folder.read('env')
    expect(env).toContain('PHASELINE_PROJECT=staging-id\n')
    expect(env).toContain('GADGET_COLOUR=teal')
    expect(env).not.toContain('PHASELINE_TOKEN')
  })

  it('is tried again as often as its config says', async () => {
    await using folder = await gadgetFolder()
    await folder.add('fail', 'echo Error no luck')
    const work = workIn(folder)
    const config = { gadget: 'fail', retries: 1 }
    const error = { code: 'GADGET_FAILED', message: 'no luck' }
    expect(await work(item(config), context())).toEqual({ phase: 'PROGRESSING', error: { ...error, retryable: true } })
    expect(await work(item(config, { attempt: 2 }), context())).toEqual({ phase: 'FAILED', error })
    expect(await work(item(config, { action: 'DELETE' }), context())).toMatchObject({ phase: 'DELETING' })
    expect(await work(item(config, { action: 'DELETE', attempt: 2 }), context())).toEqual({
      phase: 'DELETE_FAILED',
      error,
    })
  })

  it('cleans up after an abort, not after a shutdown, and not when the lease is lost', async () => {
    await using folder = await gadgetFolder()
    await folder.add('long', 'echo "$2" >> "$dir/calls"; [ "$2" = --abort ] && exit 0; echo STEP at it; exec sleep 100')
    const work = workIn(folder)
    const stopWith = async (reason: string) => {
      const seen = context()
      const running = work(item({ gadget: 'long' }), {
        ...seen,
        log: () => (reason === 'LOST' ? seen.lostBy.abort(reason) : seen.stop.abort(reason)),
      })
      return await running
    }
    expect(await stopWith('ABORT_REQUESTED')).toEqual({ phase: 'ABORTED' })
    expect(await folder.read('calls')).toBe('\n--abort\n')
    expect(await stopWith('SHUTDOWN')).toEqual({ phase: 'ABORTED' })
    expect(await stopWith('LOST')).toEqual({ phase: 'ABORTED' })
    expect(await folder.read('calls')).toBe('\n--abort\n\n\n')
    await folder.add('long', '[ "$2" = --abort ] && exit 4; echo STEP at it; exec sleep 100')
    expect(await stopWith('ABORT_REQUESTED')).toMatchObject({ phase: 'FAILED', error: { code: 'GADGET_ABORT_FAILED' } })
  })
})
