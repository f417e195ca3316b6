import { EventEmitter, once } from 'node:events'
import { createClient, runAgent, type Work, type WorkContext, type WorkItem } from '../../src/client/index.ts'

/** The misbehaviour of each item, by its name. */
const DEEDS: Readonly<Record<string, (context: WorkContext, item: WorkItem) => unknown>> = {
  nothing: () => undefined,
  text: () => 'done',
  list: () => ['SUCCEEDED'],
  'small-phase': () => ({ phase: 'done' }),
  'unknown-phase': () => ({ phase: 'COMPLETED' }),
  'phase-of-others': () => ({ phase: 'READY' }),
  'unknown-field': () => ({ phase: 'SUCCEEDED', result: 1 }),
  'message-of-another-type': () => ({ phase: 'SUCCEEDED', message: 5 }),
  'error-without-code': () => ({ phase: 'FAILED', error: new Error('so') }),
  bigint: () => ({ phase: 'SUCCEEDED', exports: { id: 9n } }),
  'exports-of-a-list': () => ({ phase: 'SUCCEEDED', exports: [1] }),
  'bigint-beside': () => ({ phase: 'SUCCEEDED', took: process.hrtime.bigint() }),
  'bigint-in-report': async ({ report, signal }) => {
    report({ progress: { ...{ bytes: 5n } } as object })
    await once(signal, 'abort')
  },
  'changes-its-item': (_, item) => {
    Object.assign(item, { fence: 'f', objectId: 'o', action: 'STOP' })
    throw new Error('it was another one')
  },
  cycle: () => {
    const exports: Record<string, unknown> = {}
    exports.self = exports
    return { phase: 'SUCCEEDED', exports }
  },
  map: () => ({ phase: 'SUCCEEDED', exports: { a: new Map([['b', 1]]) } }),
  promise: () => ({ phase: 'SUCCEEDED', exports: { later: Promise.resolve(1) } }),
  getter: () => ({
    phase: 'SUCCEEDED',
    exports: {
      ...{},
      get a(): never {
        throw new Error('not now')
      },
    },
  }),
  thenable: () =>
    Object.fromEntries([
      [
        'then',
        () => {
          throw new Error('no thenable')
        },
      ],
    ]),
  'large-integer': () => ({ phase: 'SUCCEEDED', exports: { ids: [1, 2 ** 53] } }),
  nan: () => ({ phase: 'SUCCEEDED', exports: { ratio: Number.NaN } }),
  nul: () => ({ phase: 'SUCCEEDED', exports: { a: ['b\0'] } }),
  'throws-undefined': () => {
    throw undefined
  },
  'throws-without-prototype': () => {
    throw Object.create(null)
  },
  'throws-frozen': () => {
    throw Object.freeze(Object.assign(new Error('cold'), { stack: undefined }))
  },
  'throws-unreadable': () => {
    throw Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('no')
      },
    })
  },
  'half-a-pair': () => {
    throw new Error('it ends in \ud83d')
  },
  'one-argument': ({ log }) => (log as (line: string) => void)('one argument'),
  'report-of-a-text': ({ report }) => (report as (line: string) => void)('half'),
  'unknown-field-of-report': async ({ report, signal }) => {
    report({ ...{ percent: 5 } } as object)
    await once(signal, 'abort')
  },
  'unhandled-rejection': async ({ signal }) => {
    void Promise.reject(new Error('nobody waits'))
    await once(signal, 'abort')
  },
  timer: async ({ signal }) => {
    setTimeout(() => {
      throw new Error('in a timer')
    }, 1)
    await once(signal, 'abort')
  },
  emitter: async ({ signal }) => {
    setImmediate(() => new EventEmitter().emit('error', new Error('in an event')))
    await once(signal, 'abort')
  },
  'listener-of-abort': ({ signal }) => {
    signal.addEventListener('abort', () => {
      throw new Error('in a listener')
    })
    throw new Error('and by itself')
  },
  'after-the-end': () => {
    setTimeout(() => {
      throw new Error('too late to fail')
    }, 50)
    return { phase: 'SUCCEEDED' }
  },
  /** Ends when it is asked to. */
  steady: async ({ signal }) => {
    await once(signal, 'abort')
    return { phase: 'SUCCEEDED' }
  },
}

/** An agent in a process of its own whose work throws for whatever is named bad; with a hook for problems, or without. */
const [url = '', token = '', hook = 'hook'] = process.argv.slice(2)
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const client = createClient({
  url,
  token,
  fetch: (input, init) => {
    if (String(init?.body).includes('mutation Claim')) say('claim')
    return fetch(input, init)
  },
})
await runAgent({
  client,
  instance: 'failing',
  types: ['mock'],
  signal: new AbortController().signal,
  leaseMs: 60_000,
  renewMs: 200,
  work: ((item, context) => {
    if (item.name.startsWith('bad')) throw new RangeError('too far')
    const deed = DEEDS[item.name]
    return deed ? deed(context, item) : { phase: 'SUCCEEDED' }
  }) as Work,
  ...(hook === 'console'
    ? {}
    : {
        onProblem: ({ what, error }) => {
          say(`${what} ${error.name}: ${error.message}`)
          if (hook === 'throws') throw new Error('the hook is broken')
        },
      }),
})
