// A simulated database server: server.mjs <folder>. Its configuration is <folder>/config.json, its data data.json; it
// says in address.json where it listens. Only what the task of figure 1 needs of a server is there.
import { writeFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'

const [folder = '.'] = process.argv.slice(2)
const file = (name) => join(folder, name)
const read = async (name) => JSON.parse(await readFile(file(name), 'utf8'))

const config = await read('config.json')
const data = await read('data.json')
const save = () => writeFileSync(file('data.json'), JSON.stringify(data))
/** Gone when it is stopped. */
const variables = {}
let member = 'OFFLINE'

const RECOVERY_MS = 150
const NEEDED = { 'gtid-mode': 'on', 'binlog-format': 'row' }

const status = () => ({ pid: process.pid, config, users: data.users, grants: data.grants, variables, member })

const actions = {
  user({ name, exists }) {
    // The reason for the first half of figure 1: such a user must not be replicated.
    if (exists && config['log-bin'] === 'on') throw new Error('The binary log is on: the user would be replicated.')
    data.users = [...data.users.filter((user) => user !== name), ...(exists ? [name] : [])]
    if (!exists) data.grants = data.grants.filter((user) => user !== name)
    save()
  },
  grant({ name, granted }) {
    if (granted && !data.users.includes(name)) throw new Error(`There is no user ${name}.`)
    data.grants = [...data.grants.filter((user) => user !== name), ...(granted ? [name] : [])]
    save()
  },
  variables(values) {
    if (config.plugin !== 'group_replication') throw new Error('The group replication plugin is not loaded.')
    for (const [name, value] of Object.entries(values)) {
      if (value === null) delete variables[name]
      else variables[name] = value
    }
  },
  replication({ on, peersOnline }) {
    if (!on) member = 'OFFLINE'
    else if (member === 'OFFLINE') joinGroup(peersOnline)
  },
}

function joinGroup(peersOnline) {
  for (const [name, value] of Object.entries(NEEDED)) {
    if (config[name] !== value) throw new Error(`Group replication needs ${name}=${value}.`)
  }
  if (!data.grants.includes(variables.group_replication_recovery_user)) {
    throw new Error('The recovery user may not replicate.')
  }
  if (peersOnline === 0 && variables.group_replication_bootstrap_group !== 'on') {
    throw new Error('No member of the group is on-line, and this server does not bootstrap it.')
  }
  member = 'RECOVERING'
  setTimeout(() => {
    if (member === 'RECOVERING') member = 'ONLINE'
  }, RECOVERY_MS)
}

const server = createServer(async (request, response) => {
  let answer = [200, {}]
  try {
    const action = actions[request.url.slice(1)]
    if (request.method === 'POST' && action) action(await json(request))
    answer = [200, status()]
  } catch (error) {
    answer = [409, { message: error.message }]
  }
  response.writeHead(answer[0], { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(answer[1]))
})

server.listen(0, '127.0.0.1', () => {
  writeFileSync(file('address.json'), JSON.stringify({ pid: process.pid, port: server.address().port }))
})
process.once('SIGTERM', async () => {
  await rm(file('address.json'), { force: true })
  process.exit(0)
})
