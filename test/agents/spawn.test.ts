import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { AgentProcessEvent } from '../../src/agents/agent-process.ts'
import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'
import { startWorkServer, TOKEN } from '../client/work-server.ts'
import { until } from '../testkit/wait.ts'
import { gadgetFolder, isAlive } from './gadget-folder.ts'

function recorder() {
  const events: AgentProcessEvent[] = []
  const of = <T extends AgentProcessEvent['type']>(type: T) =>
    events.filter((event): event is Extract<AgentProcessEvent, { type: T }> => event.type === type)
  return { onEvent: (event: AgentProcessEvent) => events.push(event), of }
}

describe('an agent process', () => {
  it('works, is started again when it is killed, and ends when it is closed', async () => {
    await using server = await startWorkServer()
    await using folder = await gadgetFolder()
    await folder.add('env', 'env >&2; echo EXPORT ok true')
    const { onEvent, of } = recorder()
    const options = {
      types: ['mock', 'gadget'],
      url: server.tiny.url,
      token: new Secret(TOKEN),
      gadgetFolders: [folder.path],
    }
    const agents = startAgentProcess({ ...options, onEvent })
    server.offer({ name: 'a' }, { name: 'b', type: 'gadget', config: { gadget: 'env' } })
    const succeeded = (name: string) => () => server.get(name).phase === 'SUCCEEDED'
    await until(succeeded('a'), { what: 'a' })
    await until(succeeded('b'), { what: 'b' })
    expect(server.get('b').reports.at(-1)).toMatchObject({ exports: { ok: true } })
    expect(server.lines.map(({ text }) => text).join('\n')).not.toContain(TOKEN)

    const { pid } = agents
    if (pid === null) throw new Error('there is no process')
    expect(spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout).not.toContain(TOKEN)
    process.kill(pid, 'SIGKILL')
    await until(() => of('ended').length === 1, { what: 'ended' })
    server.offer({ name: 'c' })
    // A claim that was on its way when the process was killed holds it until its lease ends.
    await until(succeeded('c'), { what: 'c' })
    expect(of('ended')).toMatchObject([{ signal: 'SIGKILL' }])
    const { pid: second } = agents
    await agents.close()
    expect(of('ended').at(-1)).toMatchObject({ exitCode: 0, restartInMs: null })
    expect(second).not.toBe(pid)
    expect(agents.pid).toBeNull()
  })

  it('leaves no gadget running when it is killed', async () => {
    await using server = await startWorkServer()
    await using folder = await gadgetFolder()
    await folder.add('long', 'echo $$ > "$dir/pid"; echo STEP at work; sleep 1000')
    const options = { types: ['gadget'], url: server.tiny.url, token: new Secret(TOKEN), gadgetFolders: [folder.path] }
    await using agents = startAgentProcess(options)
    server.offer({ name: 'x', type: 'gadget', config: { gadget: 'long' } })
    // Heard of through the agent, which has then told whoever supervises it what it started.
    await until(() => server.lines.some(({ text }) => text.includes('at work')), { what: 'at work' })
    const gadget = Number(await folder.read('pid'))
    process.kill(agents.pid ?? 0, 'SIGKILL')
    await until(() => !isAlive(gadget), { what: 'gone' })
  })

  it('waits longer each time when it cannot work, and says why', async () => {
    await using server = await startWorkServer()
    const { onEvent, of } = recorder()
    await using _ = startAgentProcess({ types: ['mock'], url: server.tiny.url, token: new Secret('wrong'), onEvent })
    await until(() => of('ended').length >= 2, { what: 'ended twice' })
    expect(of('ended').slice(0, 2)).toMatchObject([
      { exitCode: 1, restartInMs: 100 },
      { exitCode: 1, restartInMs: 200 },
    ])
    expect(of('said').map(({ line }) => line)).toContain('{"event":"agent ended","message":"Who are you?"}')
  })

  it('does not outlive the process that started it', async () => {
    await using server = await startWorkServer()
    const starter = fileURLToPath(new URL('./starter.ts', import.meta.url))
    const parent = spawn(process.execPath, [starter, server.tiny.url], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    parent.stdout.on('data', (chunk) => {
      said += String(chunk)
    })
    await until(() => said.endsWith('\n'), { what: 'started' })
    server.offer({ name: 'x', config: { hang: true, logLines: 1 } })
    // Not by its claim, whose answer may be on its way.
    await until(() => server.lines.length > 0, { what: 'at work' })
    parent.kill('SIGKILL')
    await until(() => !isAlive(Number(said)), { what: 'gone' })
    expect(server.get('x').reports).toMatchObject([{ phase: 'PROGRESSING', error: { code: 'AGENT_STOPPED' } }])
  })
})
