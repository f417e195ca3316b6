import { createClient, runAgent } from '../../src/client/index.ts'

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
  work({ name }) {
    if (name.startsWith('bad')) throw new RangeError('too far')
    return { phase: 'SUCCEEDED' }
  },
  ...(hook === 'hook' ? { onProblem: ({ what, error }) => say(`${what} ${error.name}: ${error.message}`) } : {}),
})
