import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'

/** Search in the text of a record. `matches` and `filterSql` use it in two languages, so it folds only what both fold alike. */

/** Only A to Z: the case of other letters depends on the locale of a database. */
const folded = (text: string): string => text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase())

/** The words of a search, of which a record must contain each: in any order, in any case. */
export const wordsOf = (search: string): readonly string[] => [...new Set(folded(search).split(/\s+/).filter(Boolean))]

/** The text that is searched. */
const textOf = (record: PhaseChangeRecord): string => {
  const { projectName, parentPath, name, kind, from, to, actor, by, reason, message } = record
  const place = parentPath ? `${projectName}/${parentPath}/${name}` : `${projectName}/${name}`
  return folded([place, kind, from, to, actor, by, reason, message].filter((part) => part !== null).join('\n'))
}

export function containsAll(record: PhaseChangeRecord, words: readonly string[]): boolean {
  const text = textOf(record)
  // Half of a surrogate pair would be found within a whole one, but Postgres has no such text.
  return words.every((word) => word.isWellFormed() && text.includes(word))
}

/** The collation makes `lower` fold A to Z only, and the search one of bytes. */
export const foldedSql = (text: string): string => `lower(${text} collate "C")`

/** The same text of `phase_change c`. */
export const TEXT_SQL = foldedSql(`concat_ws(E'\\n', concat_ws('/', c.project_name, nullif(c.parent_path, ''), c.name),
  c.kind, c."from", c."to", c.actor, c."by", c.reason, c.message)`)

const joined = (column: string): string => `array_to_string(p.${column}, E'\\n')`
/** Text of all changes of `log_content p`, without what stands between the names of a path. */
export const BATCH_TEXT_SQL = foldedSql(
  `concat_ws(E'\\n', ${['names', 'parent_paths', 'project_names', 'kinds', '"from"', '"to"', 'actors', '"by"', 'reasons', 'messages'].map(joined).join(', ')})`,
)

/** What a batch contains if one of its changes contains the word: a path is not stored in one piece. */
export const partsOf = (word: string): readonly string[] => word.split('/').filter(Boolean)
