import { z } from 'zod'
import type { WorkItem } from '../../../../client/index.ts'
import type { Workload } from './runtime.ts'

const strings = z.record(z.string(), z.string())

/** `config` of a START. */
const startConfig = z.object({
  eventId: z.string(),
  workerId: z.string(),
  project: z.string(),
  image: z.string().nullable(),
  command: z.array(z.string()),
  args: z.array(z.string()),
  env: strings,
  files: z.array(z.object({ path: z.string(), content: z.string() })),
  secrets: strings,
  event: z.record(z.string(), z.unknown()),
  workspace: z.string().nullable(),
})

/** Null: the config is missing, e.g. because its secrets cannot be decrypted any more. */
export function readWorkload(
  { objectId, config, token }: WorkItem,
  traceparent: string | null = null,
): Workload | null {
  // The error is not reported: it could quote a secret.
  const parsed = startConfig.safeParse(config)
  return parsed.success ? { ...parsed.data, id: objectId, token, traceparent } : null
}

const removeConfig = z.object({ workspace: z.string().nullable() })

/** The workspace that a REMOVE removes too. */
export function readWorkspace({ config }: WorkItem): string | null {
  const parsed = removeConfig.safeParse(config)
  return parsed.success ? parsed.data.workspace : null
}
