/** The effects at the targets, as command line and dashboard read and say them. */

export const DRY_RUN_FRAGMENT = `fragment OnTargets on DryRun {
  id complete
  items { path action type target state code message truncated
    changes { group kind namespace name action reason fields { path before after masked } diff } }
}`

/** Agents answer within seconds, and the server gives up after minutes. */
const POLL_MS = 500

/** Reads a dry run until nothing of it changes any more. Null: it is gone. @param pause resolves after that time, or when reading ends */
export async function readDryRun<T extends { readonly complete: boolean }>(
  read: () => Promise<T | null>,
  pause: (ms: number) => Promise<void>,
  onRead: (dryRun: T) => void = () => undefined,
): Promise<T | null> {
  for (;;) {
    const dryRun = await read()
    if (dryRun) onRead(dryRun)
    if (!dryRun || dryRun.complete) return dryRun
    await pause(POLL_MS)
  }
}

export interface TargetChange {
  readonly kind: string
  readonly namespace: string | null
  readonly name: string
  readonly action: string
  readonly reason: string | null
  readonly fields: readonly { readonly path: string; readonly before: unknown; readonly after: unknown }[]
  readonly diff: string | null
}

/** e.g. `ConfigMap shop/settings`. */
export const titleOfChange = ({ kind, namespace, name }: TargetChange): string =>
  `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`

/** The diff, or else each field with both values, line by line. */
export const linesOfChange = ({ fields, diff }: TargetChange): readonly string[] =>
  diff?.split('\n') ?? fields.map(({ path, before, after }) => `${path}: ${text(before)} → ${text(after)}`)

const text = (value: unknown): string => (value === null ? 'nothing' : JSON.stringify(value))
