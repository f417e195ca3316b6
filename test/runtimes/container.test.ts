import { stat } from 'node:fs/promises'
import Docker from 'dockerode'
import { beforeAll, describe, expect, test } from 'vitest'
import { containerName } from '../../src/families/pipelines/agents/container/container-of.ts'
import type { ContainerRuntimeOptions } from '../../src/families/pipelines/agents/container/container-runtime.ts'
import type { Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { engineSocket, provideImage } from '../testkit/container-engine.ts'
import { conformance } from './conformance.ts'
import { containerPlace } from './container-place.ts'
import { listener, workload } from './place.ts'

const socket = engineSocket()

describe.runIf(socket)('container', () => {
  beforeAll(() => provideImage(socket ?? ''), 60_000)
  conformance({
    openPlace: () => containerPlace(socket ?? ''),
    hasImages: true,
    tellsErrorsApart: true,
    hasSecretVariables: false,
  })

  async function run(script: string, more: Partial<Workload> = {}, options: Partial<ContainerRuntimeOptions> = {}) {
    await using at = await containerPlace(socket ?? '', options)
    const runtime = await at.open()
    const one = workload(at, script, more)
    await runtime.start(one, 'receipt')
    const { lines, watcher } = listener()
    return { end: await runtime.watch(one.id, watcher), lines }
  }

  test('what is written in the last moment is passed on, whole and in order', async () => {
    await using at = await containerPlace(socket ?? '')
    const runtime = await at.open({ output: { lines: 100_000, bytes: 10_000_000, totalBytes: 10_000_000 } })
    const all = Array.from({ length: 20_000 }, (_, i) => `STDOUT ${i + 1}`).join()
    // Several at once keep the engine behind.
    const told = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const one = workload(at, 'seq 1 20000')
        await runtime.start(one, 'receipt')
        const { lines, watcher } = listener()
        await runtime.watch(one.id, watcher)
        return lines.join()
      }),
    )
    expect(told.map((lines) => lines === all)).toEqual([true, true, true, true])
  })

  test('one that needs too much memory is told apart', async () => {
    // A shell whose variable grows: everything it has is its own memory, not the page cache.
    const grow = 'x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done'
    const { end } = await run(grow, {}, { memory: 16 * 1024 ** 2 })
    const { CgroupVersion } = (await new Docker({ socketPath: socket ?? '' }).info()) as {
      readonly CgroupVersion?: string
    }
    // Podman does not notice it on a system with the older control groups.
    const told = CgroupVersion === '1' ? {} : { outOfMemory: true }
    expect(end).toEqual({ how: 'EXITED', exitCode: null, signal: 'SIGKILL', ...told })
  })

  test('it has no capabilities and no way to any, no network, and a root that is read-only', async () => {
    const { lines } = await run(
      'cat /proc/self/status; ls /sys/class/net; echo x > /x || echo read-only; echo x > /tmp/x',
    )
    expect(lines).toContain('STDOUT CapEff:\t0000000000000000')
    expect(lines).toContain('STDOUT CapBnd:\t0000000000000000')
    expect(lines).toContain('STDOUT NoNewPrivs:\t1')
    expect(lines).toContain('STDOUT read-only')
    expect(lines.filter((line) => /^STDOUT (lo|eth|tap)/.test(line))).toEqual(['STDOUT lo'])
  })

  test('a user of its own may write to the workspace, and reads its secrets', async () => {
    const files = [{ path: 'deep/er/run.sh', content: '#!/bin/sh\nid -u; echo x > note; cat note deep/er/run.sh' }]
    const { lines, end } = await run(
      './deep/er/run.sh && echo && cat "$PHASELINE_SECRETS/KEY"',
      { files, secrets: { KEY: 'marker' } },
      { user: '1234:1234' },
    )
    expect(end, lines.join('\n')).toMatchObject({ exitCode: 0 })
    expect(lines.slice(0, 2)).toEqual(['STDOUT 1234', 'STDOUT x'])
    expect(lines.at(-1)).toBe('STDOUT ***')
  })

  test('an image runs its own command when the workload has none, with the arguments of the workload', async () => {
    const { lines } = await run('', { command: ['echo'], args: ['one', 'two'] })
    expect(lines).toEqual(['STDOUT one two'])
    await expect(run('', { command: [], args: [] })).rejects.toThrow(/command/)
  })

  test('what it reads is in memory, and within a folder of this user alone', async () => {
    await using at = await containerPlace(socket ?? '')
    const runtime = await at.open()
    const one = workload(at, 'sleep 1000', { secrets: { KEY: 'marker' } })
    await runtime.start(one, 'receipt')
    const { Mounts } = await new Docker({ socketPath: socket ?? '' }).getContainer(containerName(one.id)).inspect()
    const input = Mounts.find(({ Destination }) => Destination === '/run/phaseline')
    expect(input).toMatchObject({ RW: false, Source: expect.stringMatching(/^\/dev\/shm\/phaseline-/) })
    const parent = await stat(`/dev/shm/phaseline-${process.getuid?.()}`)
    expect(parent.mode & 0o077).toBe(0)
  })
})
