import { startAgentProcess } from '../../src/agents/spawn.ts'
import { Secret } from '../../src/core/secret.ts'

/** A process that starts an agent process, says its pid, and lives on until it is killed. */
const [url = '', token = 'agent-token', more = '{"types":["mock"]}'] = process.argv.slice(2)
startAgentProcess({
  ...JSON.parse(more),
  url,
  token: new Secret(token),
  onEvent: (event) => {
    if (event.type === 'started') process.stdout.write(`${event.pid}\n`)
  },
})
