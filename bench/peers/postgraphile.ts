import { createServer } from 'node:http'
import pg from 'pg'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

/**
 * PostGraphile on a database of Phaseline, as its documentation has it, but that columns without an index can be
 * filtered by too. A process: sends its port, and on request its resources and its count of statements.
 */
let statements = 0
const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
pg.Client.prototype.query = function counted(this: unknown, ...args: unknown[]) {
  statements += 1
  return query.apply(this, args)
} as typeof pg.Client.prototype.query

const connectionString = process.env.DATABASE_URL
if (!connectionString) throw new Error('DATABASE_URL is not set')
const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  disablePlugins: ['PgIndexBehaviorsPlugin'],
  pgServices: [makePgService({ connectionString, schemas: ['public'] })],
  grafserv: { graphqlPath: '/graphql', watch: false },
  grafast: { explain: false },
})
const http = createServer()
await instance.createServ(grafserv).addTo(http)
http.listen(0, '127.0.0.1', () => {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ statements, rss: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000 })
  })
  process.send?.({ port: (http.address() as { port: number }).port })
})
process.on('disconnect', () => process.exit())
