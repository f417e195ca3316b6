import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { until } from '../testkit/wait.ts'
import { isAlive } from './gadget-folder.ts'

const GUARD = new URL('../../src/agents/gadget/group-guard.ts', import.meta.url).href

/** A process with a guard and two gadgets, one of which has ended for it. */
const runner = (silenceMs: number) =>
  runnerOf(`import { spawn } from 'node:child_process'
    import { groupGuard } from ${JSON.stringify(GUARD)}
    const guard = groupGuard(${silenceMs})
    const start = () => spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).pid
    const [kept, ended] = [start(), start()]
    for (const group of [kept, ended]) guard.onGroup(group, 'started')
    guard.onGroup(ended, 'ended')
    console.log(kept + ' ' + ended)
    setInterval(() => {}, 1000)`)

async function runnerOf(code: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const [gadget = 0, ended = 0] = said.toString().trim().split(' ').map(Number)
  return {
    child,
    gadget,
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      for (const pid of [gadget, ended]) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    },
  }
}

describe('the guard of gadgets', () => {
  it('ends them when their runner is killed without a supervisor', async () => {
    await using it = await runner(60_000)
    it.child.kill('SIGKILL')
    await until(() => !isAlive(it.gadget), { what: 'the gadget is gone' })
    expect(isAlive(it.ended)).toBe(true)
  })

  it('ends one whose runner was killed before it could tell of it, and none whose start was over', async () => {
    const code = `import { spawn } from 'node:child_process'
      import { groupGuard } from ${JSON.stringify(GUARD)}
      const guard = groupGuard(60_000)
      const start = (call) => spawn('sleep', ['1000'], { detached: true, stdio: 'ignore', env: { PHASELINE_CALL: call } }).pid
      guard.onCall('over', 'begins')
      guard.onCall('over', 'begun')
      guard.onCall('begins', 'begins')
      console.log(start('begins') + ' ' + start('over'))
      setInterval(() => {}, 1000)`
    await using it = await runnerOf(code)
    it.child.kill('SIGKILL')
    await until(() => !isAlive(it.gadget), { what: 'the gadget is gone' })
    // Such as a service that it was to start.
    expect(isAlive(it.ended)).toBe(true)
  })

  it('ends them when their runner stands still, and not while it lives', async () => {
    await using it = await runner(6_000)
    const since = performance.now()
    await until(() => performance.now() - since > 7_000, { what: 'longer than the silence' })
    expect(isAlive(it.gadget)).toBe(true)
    it.child.kill('SIGSTOP')
    await until(() => !isAlive(it.gadget), { what: 'the gadget is gone' })
    expect(isAlive(it.ended)).toBe(true)
  })
})
