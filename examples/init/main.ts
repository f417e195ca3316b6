import { hostname } from 'node:os'
import { createClient, runAgent } from 'phaseline/client'
import { TYPE, work } from './agent.ts'

const { PHASELINE_URL: url = 'http://127.0.0.1:4000/graphql', PHASELINE_TOKEN: token } = process.env
if (!token) {
  console.error(`Set PHASELINE_TOKEN: phaseline token create my-agent --role agent --type ${TYPE} --quiet`)
  process.exit(2)
}
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
console.log(`Waiting for work of the type ${TYPE} from ${url}`)
await using client = createClient({ url, token })
try {
  await runAgent({ client, instance: `${hostname()}-${process.pid}`, types: [TYPE], work, signal: stop.signal })
} catch (error) {
  // The server does not take this agent: its token is wrong, or not for this type.
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
