import { Client, type QueryResult } from 'pg'
import type { AnyType } from '../../src/store/column-types.ts'
import { type Declared, declaredStatements } from '../../src/store/statement.ts'

/**
 * Postgres cannot say whether an expression or the optional side of a join is null. So every row of every test is looked
 * at: a null in a column that is declared never to be null fails its statement. JSON has a null of its own.
 */

type Callback = (error: Error | null, result?: QueryResult) => void
const PATCHED = Symbol.for('phaseline.check-rows')
const statements = new Map<string, Declared | null>()

function statementOf(text: string): Declared | null {
  const known = statements.get(text)
  if (known !== undefined) return known
  const found = declaredStatements().find((declared) => declared.text === text) ?? null
  statements.set(text, found)
  return found
}

function nullColumn({ row }: Declared, { rows }: QueryResult): string | undefined {
  const columns = (Object.entries(row) as [string, AnyType][]).filter(
    ([, { sql, nullable }]) => !nullable && !sql.startsWith('json'),
  )
  return columns.find(([name]) => rows.some((found: Record<string, unknown>) => found[name] === null))?.[0]
}

function checked(text: string, callback: Callback): Callback {
  return (error, result) => {
    const declared = error || !result ? null : statementOf(text)
    const column = declared && result && nullColumn(declared, result)
    if (column === null || column === undefined) callback(error, result)
    else callback(new Error(`column ${column} of ${declared?.name ?? text} is null, and is declared never to be`))
  }
}

const prototype = Client.prototype as unknown as Record<symbol, unknown> & { query(...given: unknown[]): unknown }
if (!prototype[PATCHED]) {
  prototype[PATCHED] = true
  const { query } = prototype
  prototype.query = function (this: unknown, ...given: unknown[]) {
    const { text } = (typeof given[0] === 'object' ? given[0] : { text: given[0] }) as { text?: unknown }
    const callback = given.at(-1)
    if (typeof text !== 'string' || typeof callback !== 'function') return query.apply(this, given)
    return query.apply(this, [...given.slice(0, -1), checked(text, callback as Callback)])
  }
}
