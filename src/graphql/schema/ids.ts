/** Ids are UUIDs of the store; any other text names nothing. */

export const isUuid = (id: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id)

export interface PhaseChangeId {
  readonly batchId: string
  readonly idx: number
}
/** Parses `<batch>:<index>`; null if the id is not that of a phase change. */
export function parsePhaseChangeId(id: string): PhaseChangeId | null {
  const [, batchId, idx] = /^(\d{1,18}):(\d{1,9})$/.exec(id) ?? []
  return batchId && idx ? { batchId, idx: Number(idx) } : null
}
