import { pino } from 'pino'
import { startEmbeddedPostgres } from '../../src/store/embedded/index.ts'

/** A process that has an embedded Postgres until it is killed: `node embedded-process.ts <data folder>`. */
const [dataDir] = process.argv.slice(2)
if (dataDir === undefined) throw new Error('which data folder?')
await startEmbeddedPostgres({ dataDir, logger: pino({ level: 'silent' }) })
process.stdout.write('up\n')
setInterval(() => {}, 60_000)
