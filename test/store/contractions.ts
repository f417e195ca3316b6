/**
 * Breaking clauses of a migration, as far as its text shows: it removes something that earlier programs read, or refuses
 * something that they write. Tables that the migration itself makes do not count, nor does a check of a column that it adds:
 * earlier programs leave that column null or at its default. Pure.
 */
export function contractionsOf(sql: string): readonly string[] {
  const text = sql.replaceAll(/\$(\w*)\$.*?\$\1\$/gs, "''").replaceAll(/--.*$/gm, '')
  const made = new Set([...text.matchAll(MAKES)].map(([, name]) => name))
  const added = new Set([...text.matchAll(ADDS)].map(([, name]) => name))
  return text
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => !made.has(TARGET.exec(statement)?.[1]))
    .map((statement) => statement.replace(ADDS_CHECK, (clause, column) => (added.has(column) ? '' : clause)))
    .flatMap(clausesOf)
}

const NAME = '"?(\\w+)"?'
const MAKES = new RegExp(`create (?:temporary )?table (?:if not exists )?${NAME}`, 'gi')
const ADDS = new RegExp(`add column (?:if not exists )?${NAME}`, 'gi')
/** A check of one column, as `check (length("name") <= 9)`. */
const ADDS_CHECK = /\badd constraint \S+ check \((?:\w+\()?"(\w+)"[^"]*$/i
const TARGET = new RegExp(`^(?:alter table|create unique index\\b.*? on) (?:only )?${NAME}`, 'i')

/** A column that must be given, unless the database does. */
const REQUIRED = /\badd column (?:(?!,\s*add column).)*?\bnot null\b/gi
const CONTRACTING = [
  /^drop (?:table|view|function|type|domain|sequence|schema)\b.*/i,
  /^alter (?:table|view|type|function|sequence)\b.*\brename\b.*/i,
  /^create unique index\b.*/i,
  /\bdrop column\b[^,]*/i,
  /\bdrop default\b/i,
  /\balter column \S+ (?:set data )?type\b[^,]*/i,
  /\balter column \S+ set not null\b/i,
  /\badd (?:constraint \S+ )?(?:check|unique|foreign key|exclude|primary key)\b.*/i,
]

function clausesOf(statement: string): readonly string[] {
  const found = CONTRACTING.flatMap((pattern) => pattern.exec(statement)?.[0] ?? [])
  const required = [...statement.matchAll(new RegExp(`${REQUIRED.source}[^,]*`, 'gi'))]
    .map(([clause]) => clause)
    .filter((clause) => !/\b(?:default|generated)\b/i.test(clause))
  return [...found, ...required]
}
