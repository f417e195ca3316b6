/** Columns of the list of objects, in their order. The first one names the object: it is always there. */
export const COLUMNS = [
  ...(['path', 'kind', 'phase', 'since', 'run', 'labels', 'error', 'project', 'created', 'creator', 'id'] as const),
] as const
export type Column = (typeof COLUMNS)[number]

/** The columns until somebody chooses others. */
export const DEFAULT_COLUMNS: readonly Column[] = ['path', 'kind', 'phase', 'since', 'labels', 'project', 'created']

/** True if one of them shows the last run, or who created the object: both are read with the rows only then. */
export const haveRun = (columns: readonly Column[]): boolean => columns.includes('run') || columns.includes('creator')

/** In their order, whatever the order of the names; empty: none of the names is a column. */
export function columnsOf(names: readonly string[]): readonly Column[] {
  const chosen = COLUMNS.filter((column) => names.includes(column))
  return chosen.length === 0 || chosen[0] === 'path' ? chosen : ['path', ...chosen]
}

export const withColumn = (columns: readonly Column[], column: Column, isShown: boolean): readonly Column[] =>
  columnsOf(isShown ? [...columns, column] : columns.filter((one) => one !== column))
