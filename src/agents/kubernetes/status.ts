import { fieldsOf, type KubernetesObject, listOf } from './objects.ts'

/** The state of an object compared with its manifest. */
export interface ObjectStatus {
  readonly is: 'CURRENT' | 'IN_PROGRESS' | 'FAILED'
  readonly message: string
}

export const CURRENT: ObjectStatus = { is: 'CURRENT', message: '' }
export const inProgress = (message: string): ObjectStatus => ({ is: 'IN_PROGRESS', message })
export const failed = (message: string): ObjectStatus => ({ is: 'FAILED', message })

interface Condition {
  readonly status: unknown
  readonly reason: unknown
  /** Reason and message. */
  readonly text: string
}
export function conditionOf({ status }: KubernetesObject, type: string): Condition | undefined {
  const found = listOf(status?.conditions)
    .map(fieldsOf)
    .find((condition) => condition.type === type)
  if (!found) return undefined
  const text = [found.reason, found.message].filter((part) => typeof part === 'string' && part !== '').join(': ')
  return { status: found.status, reason: found.reason, text: text || `${type} is ${String(found.status)}` }
}

/** A number of a spec or a status. */
export const numberOf = (value: unknown, otherwise = 0): number => (typeof value === 'number' ? value : otherwise)
