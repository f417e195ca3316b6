import pg from 'pg'

/** The server as it is, counting the statements that it sends to Postgres. Asked and answered over IPC. */
let statements = 0
const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
pg.Client.prototype.query = function counted(this: unknown, ...args: unknown[]) {
  statements += 1
  return query.apply(this, args)
} as typeof pg.Client.prototype.query

process.on('message', () => process.send?.({ statements, rss: process.memoryUsage.rss() }))
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
const { serve } = await import('../src/main.ts')
await serve({ example: false })
process.disconnect?.()
