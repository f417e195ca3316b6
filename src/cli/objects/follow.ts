import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type WatchOptions, watchTree } from './watch.ts'
import type { WatchResult } from './watch-end.ts'

/** Shows the tree until it is finished. The command decides what that means for its exit code. */
export async function follow(
  { client, io, json }: Session,
  rootId: string,
  judge: (result: WatchResult) => boolean,
  options: Pick<WatchOptions, 'until' | 'focusId'> = {},
): Promise<ExitCode> {
  const result = await watchTree(client, rootId, { out: io.stdout, signal: io.signal, env: io.env, json, ...options })
  if (result.outcome === 'interrupted') return EXIT.interrupted
  return judge(result) ? EXIT.ok : EXIT.failed
}
