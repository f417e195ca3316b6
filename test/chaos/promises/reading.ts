import type { ObjectKind, Phase } from '../../../src/core/vocabulary.ts'
import { allMachines } from '../../../src/families/machines.ts'
import type { Evidence, LoggedChange, Row, WatchedTable } from '../evidence.ts'

/** Parts that checks share. A check reads the evidence and says in sentences what is wrong with it. */

/** A promise of the product as a pure check of the evidence that returns its violations. */
export type Promised = (evidence: Evidence) => readonly string[]

export const machineOf = (name: string) => allMachines.find((machine) => machine.name === name)
/** The phases in which nothing happens until somebody asks for something. */
export const isFinal = (kind: ObjectKind, phase: Phase): boolean =>
  allMachines.some((machine) => machine.kinds.includes(kind) && !machine.column && machine.final.includes(phase))
/** A request that waits is in the log with the phase at that time, and makes no revision. */
export const isRequest = ({ from, to, rejected, revision }: LoggedChange): boolean =>
  !rejected && revision === null && from === to
/** Changes that have moved something. */
export const moves = ({ log }: Pick<Evidence, 'log'>): readonly LoggedChange[] =>
  log.filter((change) => !change.rejected && !isRequest(change))
export const tell = ({ kind, name, objectId }: { kind: string; name: string; objectId: string }): string =>
  `${kind} ${name} (${objectId})`
export const isDeployment = ({ kind }: { readonly kind: ObjectKind }): boolean =>
  kind === 'INSTALLATION' || kind === 'EXECUTION' || kind === 'DEPLOY_ITEM'

export type Objects = ReadonlyMap<string, Row<'object'>>
export const objectsOf = ({ tables }: Evidence): Objects => new Map(tables.object.map((one) => [one.id, one]))
/** The rows of a table by a column. */
export const by = <T extends WatchedTable, K extends keyof Row<T>>(
  { tables }: Evidence,
  table: T,
  column: K,
): ReadonlyMap<Row<T>[K], readonly Row<T>[]> =>
  Map.groupBy(tables[table] as readonly Row<T>[], (row: Row<T>) => row[column])

/** True if a stored value has all that was sent; the store adds defaults. */
export function includes(stored: unknown, sent: unknown): boolean {
  if (Array.isArray(sent)) {
    return Array.isArray(stored) && stored.length === sent.length && sent.every((one, i) => includes(stored[i], one))
  }
  if (typeof sent !== 'object' || sent === null) return stored === sent
  if (typeof stored !== 'object' || stored === null) return false
  return Object.entries(sent).every(([name, value]) => includes((stored as Record<string, unknown>)[name], value))
}
export const isEqual = (one: unknown, other: unknown): boolean => includes(one, other) && includes(other, one)
