import type { ObjectRow, Work } from '../core/tree.ts'

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
})
export const TALLY_COLUMNS = ['total', 'untriggered', 'open', 'failed', 'cursor'] as const

/** A column of an `unnest`: one array parameter. JSON travels as text. */
export function arrayOf(type: string, values: readonly unknown[]): unknown[] {
  if (type !== 'jsonb') return values as unknown[]
  return values.map((value) => (value === null || value === undefined ? null : JSON.stringify(value)))
}
/** How the statement says the type of that parameter, and how it reads an element. */
export const arrayType = (type: string): string => (type === 'jsonb' ? 'text[]' : `${type}[]`)
export const element = (column: string, type: string): string =>
  type === 'jsonb' ? `u."${column}"::jsonb` : `u."${column}"`
