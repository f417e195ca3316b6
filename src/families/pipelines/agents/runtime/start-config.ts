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
  files: z.array(z.object({ path: z.string(), content: z.string(), secret: z.string().optional() })),
  secrets: strings,
  event: z.record(z.string(), z.unknown()),
  workspace: z.string().nullable(),
  // Servers of earlier versions have no artifacts.
  takes: z
    .array(
      z.object({
        artifact: z.string(),
        from: z.string().nullable(),
        path: z.string(),
        found: z.object({ id: z.string(), isFolder: z.boolean(), size: z.number() }).nullable(),
      }),
    )
    .default([]),
  // A server of an earlier version has none.
  clone: z
    .object({
      url: z.string(),
      ref: z.string().nullable(),
      depth: z.number(),
      path: z.string().nullable(),
      credentials: z.string().nullable(),
      problem: z.string().nullable(),
    })
    .nullable()
    .default(null),
  // A server of an earlier version has none.
  services: z
    .array(
      z.object({
        name: z.string(),
        image: z.string().nullable(),
        command: z.array(z.string()),
        args: z.array(z.string()),
        env: strings,
        secrets: z.array(z.string()),
        ports: z.array(z.number()),
        user: z.number().nullable(),
        readiness: z.object({ port: z.number().nullable(), command: z.array(z.string()), timeoutMs: z.number() }),
      }),
    )
    .default([]),
})
/** An artifact that a workload takes; `found` is null if its event has no such artifact. */
export type TakenSpec = z.infer<typeof startConfig>['takes'][number]

/** Null: the config is missing, e.g. because its secrets cannot be decrypted any more. */
export function readWorkload(
  { objectId, config, token }: WorkItem,
  traceparent: string | null = null,
): (Omit<Workload, 'takes'> & { readonly takes: readonly TakenSpec[] }) | null {
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
