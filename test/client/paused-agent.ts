import { createClient, runAgent } from '../../src/client/index.ts'

/** An agent in a process of its own, with short leases and work without an end, that says what happens to it. */
const [url = '', token = ''] = process.argv.slice(2)
await runAgent({
  client: createClient({ url, token }),
  instance: 'paused',
  types: ['mock'],
  leaseMs: 1_000,
  signal: new AbortController().signal,
  work: ({ attempt }, { lost }) =>
    new Promise((resolve) => {
      process.stdout.write(`attempt ${attempt}\n`)
      lost.addEventListener('abort', () => {
        process.stdout.write('LOST\n')
        resolve({ phase: 'ABORTED' })
      })
    }),
})
