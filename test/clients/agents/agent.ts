import { createInterface } from 'node:readline'
import { ClientError, createClient, runAgent, type Work } from '../../../src/client/index.ts'

/**
 * The agent of the conformance suite. Its one argument is an object of options. The config of an item has the steps of its work, and others
 * for the first attempt. A line of standard input is the name of an item that need not hold any more, and each line of standard output is an event.
 */

type Step = readonly [what: string, ...args: readonly never[]]
interface Options {
  readonly url: string
  readonly token: string | readonly string[]
  readonly instance: string
  readonly types: readonly string[]
  readonly concurrency: number
  readonly leaseMs: number
  readonly renewMs: number
  readonly drainMs: number
  /** A cursor: it follows the log instead. */
  readonly follow?: string
}

const options = JSON.parse(process.argv[2] ?? '') as Options
const say = (event: string, more: object = {}): void => console.log(JSON.stringify({ event, ...more }))
const WRONG: Readonly<Record<string, unknown>> = {
  text: 'done',
  exports: { phase: 'SUCCEEDED', exports: { a: new Set([1, 2]) } },
  'large-integer': { phase: 'SUCCEEDED', exports: { id: 2 ** 60 } },
}

const going = new Map<string, PromiseWithResolvers<void>>()
function gateOf(name: string): PromiseWithResolvers<void> {
  const gate = going.get(name) ?? Promise.withResolvers<void>()
  going.set(name, gate)
  return gate
}
createInterface({ input: process.stdin }).on('line', (name) => gateOf(name).resolve())

const work: Work = async ({ name, action, attempt, fence, config }, { signal, lost, log, report }) => {
  say('begin', { name, action, attempt, fence })
  const { steps, first = steps } = config as { readonly steps: readonly Step[]; readonly first?: readonly Step[] }
  const doing = attempt === 1 ? first : steps
  for (const [what, given] of action === 'RECONCILE' ? doing : [['end', { phase: 'SUCCEEDED' }] as const]) {
    if (what === 'log') log('STDERR', given as never)
    else if (what === 'report') report(given as never)
    else if (what === 'hold') {
      const stopped = Promise.withResolvers<void>()
      const onStop = (): void => stopped.resolve()
      for (const one of [signal, lost]) one.aborted ? onStop() : one.addEventListener('abort', onStop)
      await Promise.race([gateOf(name).promise, stopped.promise])
      if (!signal.aborted) continue
      say('stopped', { name, reason: signal.reason })
      return { phase: 'ABORTED' }
    } else if (what === 'endless') await new Promise(() => {})
    else if (what === 'raise') throw new RangeError(given)
    else if (what === 'return') return WRONG[given as never] as never
    else if (what === 'end') {
      say('end', { name })
      return given as never
    }
  }
  return null
}

const stop = new AbortController()
process.once('SIGTERM', () => {
  stop.abort()
  say('stopping')
})
const { url, token } = options
const tokens = [...token]
const nextToken = (): string => (tokens.length > 1 ? tokens.shift() : tokens[0]) ?? ''
const client = createClient({ url, token: typeof token === 'string' ? token : nextToken })
try {
  if (options.follow === undefined) {
    const onProblem = ({ what, error }: { what: string; error: Error }) =>
      say('problem', { what, message: error.message })
    await runAgent({ ...options, client, work, signal: stop.signal, onProblem })
  } else {
    const onExpired = ({ commonCursor }: { readonly commonCursor: string }) => {
      say('expired')
      return commonCursor
    }
    for await (const { changes } of client.followPhases({ after: options.follow, maxBatch: 3, onExpired }))
      for (const { sequence, name, to } of changes) say('change', { sequence, name, to })
  }
  say('over', { code: null })
} catch (error) {
  if (!(error instanceof ClientError)) throw error
  say('over', { code: error.code ?? error.kind })
}
process.exit(0)
