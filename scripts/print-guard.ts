import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allMachines } from '../src/families/machines.ts'
import { guardSql } from '../src/store/guard-sql.ts'

/**
 * The database's guard is a migration made from the machine tables. With --check: fails when the newest one is not what
 * the tables say. A migration that was released is never rewritten: then make a new folder ending in _guard first.
 */
const folder = join(import.meta.dirname, '../prisma/migrations')
const newest = readdirSync(folder)
  .filter((name) => name.endsWith('_guard'))
  .sort()
  .at(-1)
if (!newest) throw new Error('there is no migration whose name ends in _guard')
const file = join(folder, newest, 'migration.sql')
const sql = `-- Made from the machine tables by \`npm run generate\`; a check compares the two.\n${guardSql(allMachines)}`
if (!process.argv.includes('--check')) writeFileSync(file, sql)
else if (readFileSync(file, 'utf8') !== sql) {
  process.stderr.write(
    `${newest} is not what the machine tables say: add a migration ending in _guard and run npm run generate\n`,
  )
  process.exitCode = 1
}
