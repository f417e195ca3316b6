import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { allMachines } from '../src/families/machines.ts'
import { guardSql } from '../src/store/guard-sql.ts'

/**
 * The database's guard is a migration made from the machine tables. When the newest one is not what the tables say, a new
 * one is written: a migration may have been applied somewhere and is never changed. With --check: writes nothing, and
 * fails instead. --folder is where the migrations are.
 */
const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    folder: { type: 'string', default: join(import.meta.dirname, '../prisma/migrations') },
  },
})
const names = readdirSync(values.folder)
  .filter((name) => /^\d{14}_/.test(name))
  .sort()
const newest = names.findLast((name) => name.endsWith('_guard'))
const sql = `-- Made from the machine tables by \`npm run generate\`; a check compares the two.\n${guardSql(allMachines)}`

if (newest === undefined || readFileSync(sqlFile(newest), 'utf8') !== sql) {
  if (values.check) {
    process.stderr.write(
      `The machine tables have changed since the migration ${newest}: run npm run generate, and commit the new migration.\n`,
    )
    process.exitCode = 1
  } else {
    const name = `${nextStamp(new Date(), names.at(-1))}_guard`
    mkdirSync(join(values.folder, name))
    writeFileSync(sqlFile(name), sql)
    process.stdout.write(
      `The machine tables have changed: wrote the migration ${name}. Commit it. To change the tables again before that, delete it first.\n`,
    )
  }
}

function sqlFile(name: string): string {
  return join(values.folder, name, 'migration.sql')
}

/** The time in UTC as migrations are named after it; always after the last one, which another clock may have named. */
function nextStamp(now: Date, last = ''): string {
  const stamp = now.toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const taken = last.slice(0, 14)
  return stamp > taken ? stamp : String(Number(taken) + 1)
}
