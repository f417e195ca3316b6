import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Batcher } from '../../src/client/agent/batcher.ts'
import { printProblems } from '../../src/client/agent/print-problems.ts'
import {
  type AgentOptions,
  type AgentProblem,
  ClientError,
  createClient,
  runAgent,
  type WorkContext,
} from '../../src/client/index.ts'
import { startHoldingProxy } from '../faults/holding-proxy.ts'
import { until } from '../testkit/wait.ts'
import type { TinyOptions } from './tiny-server.ts'
import { startWorkServer, TOKEN } from './work-server.ts'

async function startAgent(
  work: AgentOptions['work'],
  options: Partial<AgentOptions> = {},
  wire: Partial<TinyOptions> = {},
) {
  const server = await startWorkServer(wire)
  const client = createClient({ url: server.tiny.url, token: TOKEN })
  const stop = new AbortController()
  const problems: AgentProblem[] = []
  const running = runAgent({
    client,
    instance: 'test',
    types: ['mock'],
    work,
    signal: stop.signal,
    onProblem: (problem) => problems.push(problem),
    ...options,
  })
  return {
    server,
    problems,
    stop,
    running,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await client.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })
/** Errors of the items of failing-agent.ts, by name. */
const FAULTS: Readonly<Record<string, RegExp>> = {
  nothing: /work\(\) returned undefined, expected \{ phase \}/,
  text: /work\(\) returned "done", expected \{ phase \}/,
  list: /work\(\) returned a list, expected \{ phase \}/,
  'small-phase': /has a phase that must be a phase in capitals such as SUCCEEDED, not "done"/,
  'unknown-phase': /^work\(\) returned COMPLETED, which the server refused \(InvalidInputError\): .*"Phase" enum/,
  'phase-of-others': /^work\(\) returned READY, which the server refused \(TransitionError\): /,
  'unknown-field': /^work\(\) returned SUCCEEDED, which the server refused \(InvalidInputError\): .*"result"/,
  'message-of-another-type': /has a message that must be a text, not 5/,
  'error-without-code': /its\.error is not JSON but of the type Error/,
  bigint: /^exports\.id is not JSON but a bigint/,
  'exports-of-a-list': /^exports must be an object, not a list/,
  'bigint-beside': /^TypeError: The outcome\.took is not JSON but a bigint/,
  'bigint-in-report': /^TypeError: The report\.progress\.bytes is not JSON but a bigint/,
  'changes-its-item': /^Error: it was another one/,
  cycle: /nested more than 128 levels deep, or within itself/,
  map: /its\.exports\.a is not JSON but of the type Map/,
  promise: /its\.exports\.later is not JSON but of the type Promise/,
  getter: /^Error: not now/,
  thenable: /^Error: no thenable/,
  'large-integer': /^exports\.ids\.1 is a whole number beyond ±9007199254740991/,
  nan: /^exports\.ratio is no number that JSON has/,
  nul: /^exports\.a\.0 holds the character NUL/,
  'throws-undefined': /^Error: undefined/,
  'throws-without-prototype': /cannot be read/,
  'throws-frozen': /^Error: cold/,
  'throws-unreadable': /cannot be read/,
  'half-a-pair': /^Error: it ends in \ufffd$/,
  'one-argument':
    /log\(\) expects a stream and a text, as in log\('STDOUT', 'a line'\), not "one argument" and undefined/,
  'report-of-a-text': /report\(\) expects \{ phase, message, progress, error \}.*must be an object, not "half"/,
  'unknown-field-of-report': /^TypeError: report\(\) was refused: .*"percent"/,
  'unhandled-rejection': /^Error: nobody waits/,
  timer: /^Error: in a timer/,
  emitter: /^Error: in an event/,
  'listener-of-abort': /^Error: and by itself/,
}
const names = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `item${i}` }))

describe('runAgent', () => {
  it('works off thousands of items in few calls', async () => {
    await using agent = await startAgent(() => ({ phase: 'SUCCEEDED' }), { concurrency: 1_000 })
    const { server } = agent
    server.offer(...names(3_000))
    await until(() => server.items.values().every(({ phase }) => phase === 'SUCCEEDED'), { what: 'all succeeded' })
    expect(server.items.values().every(({ reports }) => reports.length === 1)).toBe(true)
    // A slow machine reports what is there, so with more calls.
    expect(server.calls.claim).toBeLessThan(300)
    expect(server.calls.report).toBeLessThan(300)
    expect(server.largest.claim).toBe(500)
    expect(server.largest.report).toBeGreaterThan(50)
  })

  // The larger one has several claims open at a time.
  it.each([7, 1_500])('has no more than %i in hand when it may, and fills up as it gets done', async (concurrency) => {
    let [now, most] = [0, 0]
    const full = Promise.withResolvers<void>()
    await using agent = await startAgent(
      async () => {
        now += 1
        most = Math.max(most, now)
        if (now === concurrency) full.resolve()
        await full.promise
        await sleep(5)
        now -= 1
        return { phase: 'SUCCEEDED' }
      },
      { concurrency },
    )
    const { server } = agent
    server.offer(...names(concurrency * 2 + 36))
    await until(() => server.items.values().every(({ phase }) => phase === 'SUCCEEDED'), { what: 'all succeeded' })
    expect(most).toBe(concurrency)
  })

  it('repeats a report whose answer was lost, and continues when the server is back', async () => {
    let lost = 0
    const breakOff: TinyOptions['breakOff'] = (when, body) => {
      if (when !== 'after' || !body.includes('mutation Report') || lost >= 2) return false
      lost += 1
      return true
    }
    await using agent = await startAgent(() => ({ phase: 'SUCCEEDED', exports: { a: 1 } }), {}, { breakOff })
    const { server, problems } = agent
    server.offer({ name: 'x' })
    await until(() => server.get('x').reports.length === 3, { what: 'repeated until answered' })
    expect(server.get('x').attempt).toBe(1)
    expect(problems.filter(({ what }) => what === 'report')).toHaveLength(2)
    server.tiny.cut()
    server.offer({ name: 'y' })
    await until(() => server.get('y').phase === 'SUCCEEDED', { what: 'y after the cut' })
  })

  it('sends progress in order, the newest wins, and log lines before the end', async () => {
    await using agent = await startAgent(async (_, context) => {
      for (let value = 1; value <= 200; value += 1) {
        context.report({ progress: { value, total: 200 } })
        context.log('STDOUT', `line ${value}`)
        if (value % 50 === 0) await sleep(10)
      }
      return { phase: 'SUCCEEDED' }
    })
    const { server } = agent
    server.offer({ name: 'x' })
    await until(() => server.get('x').phase === 'SUCCEEDED', { what: 'succeeded' })
    const values = server
      .get('x')
      .reports.flatMap(({ progress }) => (progress ? [(progress as { value: number }).value] : []))
    expect(values.length).toBeLessThan(50)
    expect(values).toEqual([...values].sort((a, b) => a - b))
    expect(server.get('x').reports.at(-1)).toMatchObject({ phase: 'SUCCEEDED' })
    expect(server.lines.map(({ text }) => text)).toEqual(Array.from({ length: 200 }, (_, i) => `line ${i + 1}`))
  })

  describe('interim reports arrive with the final one', () => {
    type Server = Awaited<ReturnType<typeof startWorkServer>>
    /** Progress and phases, in the order in which the server has taken them. */
    const received = (server: Server) =>
      server
        .get('x')
        .reports.map(({ phase, progress }) => phase ?? (progress as { value: number } | undefined)?.value ?? null)
    const count = (report: WorkContext['report'], to: number) => {
      for (let value = 1; value <= to; value += 1) report({ progress: { value, total: to } })
    }

    it('when the work ends at once', async () => {
      await using agent = await startAgent((_, { report }) => {
        count(report, 10)
        return { phase: 'SUCCEEDED' }
      })
      const { server } = agent
      server.offer({ name: 'x' })
      await until(() => server.get('x').phase === 'SUCCEEDED', { what: 'it has ended' })
      expect(received(server)).toEqual([1, 10, 'SUCCEEDED'])
      expect(server.calls.report).toBe(1)
    })

    it('when the answers are lost, and the reports repeated', async () => {
      let lost = 0
      const breakOff: TinyOptions['breakOff'] = (when, body) => {
        if (when !== 'after' || !body.includes('SUCCEEDED') || lost >= 2) return false
        lost += 1
        return true
      }
      const work: AgentOptions['work'] = (_, { report }) => {
        count(report, 10)
        return { phase: 'SUCCEEDED' }
      }
      await using agent = await startAgent(work, {}, { breakOff })
      const { server } = agent
      server.offer({ name: 'x' })
      await until(() => server.get('x').reports.length >= 9, { what: 'repeated until answered' })
      expect(received(server)).toEqual([1, 10, 'SUCCEEDED', 1, 10, 'SUCCEEDED', 1, 10, 'SUCCEEDED'])
    })

    it.each([
      ['gives its work back', { phase: 'ABORTED' } as const, [1, 10, 'PROGRESSING']],
      ['says nothing of how it ended', null, [1, 10]],
    ])('when the agent is stopped and %s', async (_, outcome, expected) => {
      const begun = Promise.withResolvers<void>()
      await using agent = await startAgent(
        async (_item, { report, signal }) => {
          begun.resolve()
          await untilAborted(signal)
          count(report, 10)
          return outcome
        },
        { drainMs: 10 },
      )
      const { server } = agent
      server.offer({ name: 'x' })
      await begun.promise
      agent.stop.abort()
      await agent.running
      expect(received(server)).toEqual(expected)
    })
  })

  it('keeps its leases, and passes abort requests on', async () => {
    await using agent = await startAgent(
      async (_, { signal }) => {
        expect(await untilAborted(signal)).toBe('ABORT_REQUESTED')
        return { phase: 'ABORTED' }
      },
      // A pause of this process is shorter than what is left of a lease.
      { leaseMs: 3_000, renewMs: 200 },
    )
    const { server } = agent
    server.offer({ name: 'x' })
    await until(() => server.get('x').fence !== null, { what: 'claimed' })
    const { leaseUntil } = server.get('x')
    await until(() => Date.now() > leaseUntil && server.get('x').renewals.length >= 5, {
      what: 'held for longer than one lease',
    })
    server.get('x').abortRequested = true
    await until(() => server.get('x').phase === 'ABORTED', { what: 'aborted' })
    expect(server.get('x').attempt).toBe(1)
  })

  it('stops work whose lease is gone: taken away, or not renewed in time', async () => {
    const reasons: unknown[] = []
    let toldAt = 0
    let deaf = false
    await using agent = await startAgent(
      async ({ name }, { signal, lost, log }) => {
        const reason = await untilAborted(signal)
        toldAt = Date.now()
        reasons.push(reason)
        expect(lost.aborted).toBe(true)
        log('STDOUT', `the last of ${name}`)
        return { phase: 'ABORTED' }
      },
      { leaseMs: 6_000, renewMs: 200 },
      { breakOff: () => deaf },
    )
    const { server } = agent
    server.offer({ name: 'x', abortRequested: false })
    await until(() => server.get('x').fence !== null, { what: 'claimed' })
    Object.assign(server.get('x'), { fence: 'x of somebody else', leaseUntil: Number.POSITIVE_INFINITY })
    await until(() => reasons.length === 1, { what: 'told' })
    // The server alone knows whether it still takes the output.
    await until(() => server.lines.some(({ text }) => text === 'the last of x'), { what: 'its last line is sent' })
    server.offer({ name: 'y' })
    await until(() => server.get('y').fence !== null, { what: 'claimed' })
    const { leaseUntil } = server.get('y')
    deaf = true
    await until(() => reasons.length === 2, { what: 'told' })
    expect(toldAt).toBeLessThan(leaseUntil)
    expect(reasons).toEqual(['LOST', 'LOST'])
    expect([...server.get('x').reports, ...server.get('y').reports]).toEqual([])
    deaf = false
    // Neither does an agent that ends forget it.
    agent.stop.abort()
    await agent.running
    expect(server.lines.map(({ text }) => text)).toEqual(['the last of x', 'the last of y'])
  })

  it('gives the place of work that never ends to other work, once nobody takes its outcome any more', async () => {
    await using agent = await startAgent(
      ({ name }) => (name === 'endless' ? new Promise(() => undefined) : { phase: 'SUCCEEDED' }),
      { leaseMs: 2_000, renewMs: 200, concurrency: 1 },
    )
    const { server, problems } = agent
    server.offer({ name: 'endless' })
    await until(() => server.get('endless').fence !== null, { what: 'claimed' })
    server.offer({ name: 'next' })
    Object.assign(server.get('endless'), { phase: 'FAILED', fence: null })
    await until(() => server.get('next').phase === 'SUCCEEDED', { what: 'the next one is done' })
    const error = expect.objectContaining({ message: expect.stringMatching(/^Its work continues, 2000 ms after/) })
    expect(problems).toEqual([{ what: 'work', error, objectId: 'endless' }])
  })

  it('stops its work when it was paused for longer than its leases', async () => {
    await using server = await startWorkServer()
    const fixture = fileURLToPath(new URL('./paused-agent.ts', import.meta.url))
    const child = spawn(process.execPath, [fixture, server.tiny.url, TOKEN], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      let said = ''
      child.stdout.on('data', (chunk) => {
        said += String(chunk)
      })
      server.offer({ name: 'x' })
      await until(() => /attempt \d/.test(said), { what: 'at work' })
      child.kill('SIGSTOP')
      // Somebody else takes it over as soon as the lease is over, and is at it when the first one wakes up.
      await until(() => server.get('x').leaseUntil < Date.now(), { what: 'the lease is over' })
      Object.assign(server.get('x'), { fence: 'x of somebody else', leaseUntil: Number.POSITIVE_INFINITY })
      child.kill('SIGCONT')
      await until(() => said.includes('LOST'), { what: 'stopped' })
      expect(server.get('x').reports).toEqual([])
    } finally {
      child.kill('SIGKILL')
    }
  })

  it('does not begin an item whose lease has expired on arrival', async () => {
    await using server = await startWorkServer()
    await using proxy = await startHoldingProxy(server.tiny.url)
    await using client = createClient({ url: proxy.url, token: TOKEN })
    const claimed = proxy.stopAt('ANSWER', ({ answer }) => answer?.includes('"fence":"x ') === true)
    server.offer({ name: 'x' })
    const begun: number[] = []
    await using agent = await startAgent(
      ({ attempt }) => {
        begun.push(attempt)
        return { phase: 'SUCCEEDED' }
      },
      { client, leaseMs: 600 },
    )
    await until(() => claimed.holds, { what: 'claimed' })
    await until(() => server.get('x').leaseUntil < Date.now(), { what: 'the lease is over' })
    await claimed.letThrough()
    await until(() => server.get('x').phase === 'SUCCEEDED', { what: 'claimed again, and done' })
    expect(begun).toHaveLength(1)
    expect(begun).not.toContain(1)
    expect(agent.problems).toContainEqual({
      what: 'claim',
      error: expect.objectContaining({ message: expect.stringContaining('lease expired') }),
      objectId: 'x',
    })
  })

  it('gives work back that it cannot finish when it is shut down, and lets the rest finish', async () => {
    let begun = 0
    await using agent = await startAgent(
      async ({ name }, { signal }) => {
        begun += 1
        if (name === 'short') await sleep(50)
        else if ((await untilAborted(signal)) === 'SHUTDOWN') return { phase: 'ABORTED' }
        return { phase: 'SUCCEEDED' }
      },
      { drainMs: 300 },
    )
    const { server } = agent
    server.offer({ name: 'short' }, { name: 'long' }, { name: 'deletion', action: 'DELETE' })
    await until(() => begun === 3, { what: 'all are begun' })
    agent.stop.abort()
    await until(() => server.get('short').phase === 'SUCCEEDED', { what: 'finished' })
    server.offer({ name: 'late' })
    await agent.running
    const error = { code: 'AGENT_STOPPED', retryable: true }
    expect(server.get('long').reports).toMatchObject([{ phase: 'PROGRESSING', error }])
    expect(server.get('deletion').reports).toMatchObject([{ phase: 'DELETING', error }])
    expect(server.get('late').attempt).toBe(0)
  })

  it('reports work that throws as failed, and names outcomes of a deletion as such', async () => {
    await using agent = await startAgent(({ name }) => {
      if (name.startsWith('thrown')) throw new RangeError('too far')
      return { phase: 'SUCCEEDED' }
    })
    const { server, problems } = agent
    server.offer({ name: 'thrown' }, { name: 'thrown-away', action: 'DELETE' }, { name: 'gone', action: 'DELETE' })
    await until(() => server.items.values().every(({ reports }) => reports.length === 1), { what: 'reported' })
    const error = { code: 'AGENT_ERROR', message: 'RangeError: too far' }
    expect(server.get('thrown').reports).toMatchObject([{ phase: 'FAILED', error }])
    expect(server.get('thrown-away').reports).toMatchObject([{ phase: 'DELETE_FAILED', error }])
    expect(server.get('gone').reports).toMatchObject([{ phase: 'GONE' }])
    expect(problems.map(({ what }) => what)).toEqual(['work', 'work'])
  })

  it('cuts texts to the bounds of the server, and reports exports beyond theirs as a failure', async () => {
    const long = 'x'.repeat(1024 * 1024)
    await using agent = await startAgent(({ name }, { report, log }) => {
      if (name === 'large') return { phase: 'SUCCEEDED', exports: { long } }
      log('STDOUT', long)
      report({ message: long, progress: { step: `${'x'.repeat(4_088)}${'😀'.repeat(100)}`, unit: long } })
      return { phase: 'FAILED', error: { code: long, message: long } }
    })
    const { server } = agent
    server.offer({ name: 'long' }, { name: 'large' })
    await until(() => server.items.values().every(({ phase }) => phase === 'FAILED'), { what: 'both have failed' })
    const cut = (length: number) => `${'x'.repeat(length - 8)} … (cut)`
    expect(server.get('long').reports).toEqual([
      expect.objectContaining({
        message: cut(16_384),
        progress: { step: `${'x'.repeat(4_088)} … (cut)`, unit: cut(64) },
      }),
      expect.objectContaining({ error: { code: cut(255), message: cut(16_384) } }),
    ])
    expect(server.lines.map(({ text }) => text)).toEqual([cut(8_192)])
    const error = { code: 'EXPORTS', message: 'exports is larger than 1048576 characters.' }
    expect(server.get('large').reports).toMatchObject([{ phase: 'FAILED', error }])
  })

  it('hands over report and log as free functions', async () => {
    await using agent = await startAgent((_, { report, log }) => {
      report({ progress: { step: 'half' } })
      log('STDOUT', 'a line')
      return { phase: 'SUCCEEDED' }
    })
    const { server, problems } = agent
    server.offer({ name: 'x' })
    await until(() => /^(SUCCEEDED|FAILED)$/.test(server.get('x').phase), { what: 'it has ended' })
    expect(server.get('x').reports).toMatchObject([{ progress: { step: 'half' } }, { phase: 'SUCCEEDED' }])
    expect(server.lines.map(({ text }) => text)).toEqual(['a line'])
    expect(problems).toEqual([])
  })

  it('tells a report that is refused', async () => {
    let server: Awaited<ReturnType<typeof startWorkServer>> | undefined
    await using agent = await startAgent(() => {
      Object.assign(server?.get('x') ?? {}, { fence: 'x of somebody else', leaseUntil: Number.POSITIVE_INFINITY })
      return { phase: 'SUCCEEDED' }
    })
    server = agent.server
    server.offer({ name: 'x' })
    await until(() => agent.problems.length > 0, { what: 'the refusal is told' })
    const error = expect.objectContaining({ message: 'SUCCEEDED was refused (StaleReportError): Too late.' })
    expect(agent.problems).toEqual([{ what: 'report', error, objectId: 'x' }])
  })

  describe('on its own console', () => {
    /** An agent in a process of its own whose work throws for whatever is named bad. */
    async function startOwn(url: string, hook: 'hook' | 'console' | 'throws') {
      const fixture = fileURLToPath(new URL('./failing-agent.ts', import.meta.url))
      const child = spawn(process.execPath, [fixture, url, TOKEN, hook], { stdio: ['ignore', 'pipe', 'pipe'] })
      const said = { out: '', err: '' }
      child.stdout.on('data', (chunk) => {
        said.out += String(chunk)
      })
      child.stderr.on('data', (chunk) => {
        said.err += String(chunk)
      })
      const ended = new Promise((resolve) => child.once('exit', resolve))
      return {
        said,
        async [Symbol.asyncDispose]() {
          child.kill('SIGKILL')
          await ended
        },
      }
    }
    it('it outlives whatever its work returns, throws or leaves behind, and fails that item alone', async () => {
      await using server = await startWorkServer()
      await using agent = await startOwn(server.tiny.url, 'throws')
      server.offer({ name: 'steady' }, ...Object.keys(FAULTS).map((name) => ({ name })), { name: 'after-the-end' })
      const hasEnded = ({ name, phase }: { name: string; phase: string }) =>
        name === 'steady' || phase === 'SUCCEEDED' || phase === 'FAILED'
      await until(() => server.items.values().every(hasEnded), { what: 'all have ended' })
      for (const [name, words] of Object.entries(FAULTS)) {
        const { phase, attempt, reports } = server.get(name)
        const code = words.source.startsWith('^exports') ? 'EXPORTS' : 'AGENT_ERROR'
        const error = { code, message: expect.stringMatching(words) }
        expect({ name, phase, attempt, last: reports.at(-1) }).toMatchObject({
          ...{ name, phase: 'FAILED', attempt: 1 },
          last: { phase: 'FAILED', error },
        })
      }
      await until(() => agent.said.out.includes('work Error: too late to fail'), { what: 'it tells the late one' })
      server.offer({ name: 'another' })
      await until(() => server.get('another').phase === 'SUCCEEDED', { what: 'it is still there' })
      server.get('steady').abortRequested = true
      await until(() => server.get('steady').phase === 'SUCCEEDED', { what: 'what was held all the time has ended' })
      expect(server.get('steady').attempt).toBe(1)
      expect(agent.said.err).toContain('onProblem failed: the hook is broken')
    })

    const times = (text: string, part: string) => text.split(part).length - 1

    it('it says which work threw and where, and which calls fail, each once however often', async () => {
      await using server = await startWorkServer()
      await using agent = await startOwn(server.tiny.url, 'console')
      server.offer(...Array.from({ length: 300 }, (_, i) => ({ name: `bad-${i}` })))
      await until(() => server.items.values().every(({ phase }) => phase === 'FAILED'), { what: 'all have failed' })
      const { said } = agent
      await until(() => said.err.includes('failing-agent.ts'), { what: 'it says so' })
      expect(said.err).toMatch(
        /^Agent failing, object bad-\d+: work failed: RangeError: too far\n {4}at .*failing-agent\.ts/,
      )
      expect(times(said.err, 'too far')).toBe(1)
      await server[Symbol.asyncDispose]()
      await until(() => said.err.includes('claim failed: '), { what: 'it says that calls fail' })
      await until(() => times(said.out, 'claim\n') >= 4, { what: 'it has tried again' })
      expect(times(said.err, 'claim failed: ')).toBe(1)
    })

    it('it prints the number of omitted problems, and then prints again', async () => {
      const printed: string[] = []
      const tell = printProblems('Agent x', { print: (text) => printed.push(text), everyMs: 30 })
      const report = (text: string) => tell({ what: 'report', error: new Error(text) })
      for (let i = 0; i < 50; i += 1) report(`no ${i}`)
      expect(printed).toHaveLength(20)
      await until(() => printed[20], { what: 'the summary' })
      expect(printed[20]).toBe('Agent x: 30 more problems like these in the last 0.03 s.')
      report('no 0')
      expect(printed.slice(21)).toEqual(['Agent x: report failed: no 0'])
    })

    it('it prints nothing when there is an onProblem', async () => {
      await using server = await startWorkServer()
      await using agent = await startOwn(server.tiny.url, 'hook')
      server.offer({ name: 'bad' })
      await until(() => agent.said.out.includes('work RangeError: too far\n'), { what: 'the hook is told' })
      expect(agent.said.err).toBe('')
    })
  })

  it('ends with the error when it may not work at all', async () => {
    await using server = await startWorkServer()
    await using client = createClient({ url: server.tiny.url, token: TOKEN })
    const problems: unknown[] = []
    const onProblem = (problem: unknown) => problems.push(problem)
    const common = { instance: 'test', work: () => null, signal: new AbortController().signal, onProblem }
    await expect(runAgent({ ...common, client, types: ['forbidden'] })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await using stranger = createClient({ url: server.tiny.url, token: 'wrong' })
    await expect(runAgent({ ...common, client: stranger, types: ['mock'] })).rejects.toMatchObject({
      kind: 'unauthorized',
    })
    // The caller has the error.
    expect(problems).toEqual([])
  })
})

describe('Batcher', () => {
  it('keeps the order of entries with the same key, also while the server cannot process them', async () => {
    const sent: string[] = []
    let refusals = 3
    const batcher = new Batcher<string, true>({
      send: (batch) => {
        if (batch.some((entry) => entry.startsWith('a'))) {
          refusals -= 1
          if (refusals >= 0) return Promise.reject(new ClientError('http', 'Busy.', { retryable: true }))
        }
        sent.push(...batch)
        return Promise.resolve(batch.map(() => true as const))
      },
      max: 10,
      calls: 2,
      keyOf: (entry) => entry.slice(0, 1),
      maxRefusals: { final: 5, retryable: 30 },
      onProblem: () => undefined,
    })
    await Promise.all(['a1', 'a2', 'b1', 'a3'].map((entry) => batcher.add(entry)))
    expect(sent.filter((entry) => entry.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
  })

  it('lets other entries go on while one is about something that is busy', async () => {
    const sent: string[] = []
    let isBusy = true
    const batcher = new Batcher<string, true>({
      send: (batch) => {
        if (isBusy && batch.includes('busy')) {
          const extensions = { retryAfterMs: 1 }
          return Promise.reject(new ClientError('graphql', 'Busy.', { code: 'BUSY', retryable: true, extensions }))
        }
        sent.push(...batch)
        return Promise.resolve(batch.map(() => true as const))
      },
      max: 10,
      calls: 2,
      keyOf: (entry) => entry,
      maxRefusals: { final: 5, retryable: 30 },
      onProblem: () => undefined,
    })
    const busy = batcher.add('busy')
    expect(await Promise.all(['a', 'b'].map((entry) => batcher.add(entry)))).toEqual([true, true])
    expect(await batcher.add('c')).toBe(true)
    isBusy = false
    expect(await busy).toBe(true)
    expect(sent.sort()).toEqual(['a', 'b', 'busy', 'c'])
  })
})
