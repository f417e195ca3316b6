import { z } from 'zod'
import type { WorkItem } from '../../../../client/index.ts'
import { artifactSpec, artifactsOf } from '../artifacts/leave-artifacts.ts'
import { parseJson } from './parse-json.ts'

/** The part of a START that a runtime stores: enough to renew its lease and to report, and none of its secrets. */
const receipt = z.object({
  fence: z.string(),
  objectId: z.string(),
  kind: z.enum(['WORKER', 'JOB']),
  name: z.string(),
  jobId: z.string().nullable(),
  action: z.literal('START'),
  type: z.string(),
  target: z.string().nullable(),
  attempt: z.number(),
  /** Receipts of earlier versions have none. */
  artifacts: z.array(artifactSpec).default([]),
})

export const writeReceipt = (item: WorkItem): string =>
  JSON.stringify({ ...item, config: undefined, token: undefined, artifacts: artifactsOf(item) })

/** Null: another version has written it. */
export function readReceipt(text: string): WorkItem | null {
  const read = parseJson(receipt, text)
  if (!read) return null
  const { artifacts, ...item } = read
  return { ...item, config: { artifacts }, token: null }
}
