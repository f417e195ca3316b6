import { z } from 'zod'
import type { WorkItem } from '../../../../client/index.ts'

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
})

export const writeReceipt = (item: WorkItem): string => JSON.stringify({ ...item, config: undefined, token: undefined })

/** Null: another version has written it. */
export function readReceipt(text: string): WorkItem | null {
  try {
    return { ...receipt.parse(JSON.parse(text)), config: null, token: null }
  } catch {
    return null
  }
}
