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

/**
 * Joins all distinct texts of a query (column `said`), the frequent ones first. A search takes longer for a word
 * further back, and it meets the frequent texts in every stretch.
 */
export const gatheredSql = (texts: string): string =>
  foldedSql(`(select string_agg(g.said, E'\\n' order by g.times desc, g.said)
    from (select x.said collate "C" as said, count(*) as times from (${texts}) x where x.said is not null group by 1) g)`)

/** True if a long text lacks one of the words. It is unpacked once, and not for each word. */
export const lacksOneSql = (text: string, words: string): string =>
  `exists (select from (select ${text} || '' as said offset 0) s, unnest(${words}) w(word) where strpos(s.said, w.word collate "C") = 0)`

/** The same text of `phase_change c`. */
export const TEXT_SQL = foldedSql(`concat_ws(E'\\n', concat_ws('/', c.project_name, nullif(c.parent_path, ''), c.name),
  c.kind, c."from", c."to", c.actor, c."by", c.reason, c.message)`)

const joined = (column: string): string => `array_to_string(p.${column}, E'\\n')`
/** Text of all changes of `log_content p`, without what stands between the names of a path. */
export const BATCH_TEXT_SQL = foldedSql(
  `concat_ws(E'\\n', ${['names', 'parent_paths', 'project_names', 'kinds', '"from"', '"to"', 'actors', '"by"', 'reasons', 'messages'].map(joined).join(', ')})`,
)

/** The strings of a batch that has the word in one of its changes: a path is not stored in one piece. */
export const partsOf = (word: string): readonly string[] => word.split('/').filter(Boolean)
