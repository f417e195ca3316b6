#!/usr/bin/env node
// The servers of the example: group.mjs new <name> [binary-log] | status | stop
import { ask, createServer, serverNames, start, stop } from './lib/servers.mjs'

const [command, name, option] = process.argv.slice(2)

if (command === 'new' && name) {
  await createServer(name, { binaryLog: option === 'binary-log' })
  await start(name)
} else if (command === 'stop') {
  for (const server of await serverNames()) await stop(server)
} else if (command === 'status') {
  for (const server of await serverNames()) {
    const { member = 'stopped', users = [] } = await ask(server).catch(() => ({}))
    console.log(`${server}: ${member}, users: ${users.join(', ') || 'none'}`)
  }
} else {
  console.error('group.mjs new <name> [binary-log] | status | stop')
  process.exitCode = 2
}
