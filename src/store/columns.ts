import type { ObjectRow, Work } from '../core/tree.ts'
import { ACTORS, OBJECT_KINDS, PHASES, RECONCILE_MODES, WORK_ACTIONS } from '../core/vocabulary.ts'
import type { BinaryType } from './binary.ts'

/** Property → column and SQL type of the lifecycle and work tables, once for reading and writing. */
export interface Column {
  readonly property: string
  readonly column: string
  readonly type: string
}
const columns = <T>(types: { readonly [K in keyof T]-?: string }): readonly Column[] =>
  Object.entries(types).map(([property, type]) => ({
    property,
    column: property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    type: type as string,
  }))

export const OBJECT_COLUMNS = columns<ObjectRow>({
  id: 'uuid',
  rootId: 'uuid',
  parentId: 'uuid',
  projectId: 'uuid',
  kind: 'object_kind',
  name: 'text',
  ordinal: 'integer',
  phase: 'phase',
  phaseSince: 'timestamptz',
  revision: 'integer',
  generation: 'integer',
  observedGeneration: 'integer',
  jobId: 'uuid',
  finishedJobId: 'uuid',
  deletionRequestedAt: 'timestamptz',
  waitingFor: 'integer',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
})

export const WORK_COLUMNS = columns<Work>({
  type: 'text',
  target: 'text',
  action: 'work_action',
  state: 'smallint',
  config: 'jsonb',
  handedConfig: 'jsonb',
  handed: 'boolean',
  fenceHash: 'bytea',
  jobId: 'uuid',
  principal: 'text',
  instance: 'text',
  attempt: 'integer',
  leaseUntil: 'timestamptz',
  offerAfter: 'timestamptz',
  triggeredAt: 'timestamptz',
  pickedUpAt: 'timestamptz',
  abortRequestedAt: 'timestamptz',
  abortCode: 'text',
  progressingMs: 'bigint',
  abortingMs: 'bigint',
  dueAt: 'timestamptz',
  doneAt: 'timestamptz',
  leaseWatched: 'boolean',
})
export const CHILD_COUNT_COLUMNS = ['total', 'untriggered', 'open', 'failed', 'cursor'] as const

/** Words in the order of their numbers, as which they travel: what an enum's own numbers are differs between databases. */
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  object_kind: OBJECT_KINDS,
  phase: PHASES,
  actor: ACTORS,
  work_action: WORK_ACTIONS,
  reconcile_mode: RECONCILE_MODES,
}
const NUMBERS = new Map(
  Object.entries(ENUMS).map(([type, words]) => [type, new Map(words.map((word, i) => [word, i + 1]))]),
)

/** How a column of a statement over many rows travels, and how the statement reads an element of it. */
export interface Carrier {
  readonly type: BinaryType
  element(sql: string): string
  value(value: unknown): unknown
}
const asIs = (type: BinaryType): Carrier => ({ type, element: (sql) => sql, value: (value) => value })
const JSONB: Carrier = {
  type: 'jsonb',
  element: (sql) => sql,
  value: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
}

export function wireTypeOf(type: string): Carrier {
  const words = ENUMS[type]
  const numbers = NUMBERS.get(type)
  if (!words || !numbers) return type === 'jsonb' ? JSONB : asIs(type as BinaryType)
  return {
    type: 'smallint',
    element: (sql) => `('{${words.join(',')}}'::"${type}"[])[${sql}]`,
    value: (value) => numbers.get(value as string) ?? null,
  }
}
