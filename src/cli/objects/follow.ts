import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import type { Decision } from '../tree/undecided.ts'
import { type WatchOptions, watchTree } from './watch.ts'
import type { WatchResult } from './watch-end.ts'

export interface FollowOptions extends Pick<WatchOptions, 'until' | 'focusId'> {
  /** Lines that say how to decide. */
  readonly howTo?: (decision: Decision) => readonly string[]
}

/** Shows the tree until it is finished, or until a person must decide something, which is then printed. The command decides what that means for its exit code. */
export async function follow(
  session: Session,
  rootId: string,
  judge: (result: WatchResult) => boolean,
  { howTo = anyVerb, ...options }: FollowOptions = {},
): Promise<ExitCode> {
  const { client, io, json, notes } = session
  const output = { out: io.stdout, env: io.env, json, notes }
  const result = await watchTree(client, rootId, { ...output, signal: io.signal, ...options })
  if (result.outcome === 'interrupted') return EXIT.interrupted
  if (result.outcome === 'undecided') {
    for (const decision of result.decisions ?? []) session.say(...describeDecision(decision, howTo))
    return EXIT.undecided
  }
  return judge(result) ? EXIT.ok : EXIT.failed
}

const describeDecision = (decision: Decision, howTo: NonNullable<FollowOptions['howTo']>): readonly string[] => [
  `A person must decide about ${decision.path}: ${decision.blocker.message}`,
  ...howTo(decision),
]

/** Verbs that are commands of the same name, for all kinds. */
const COMMANDS: ReadonlySet<string> = new Set(['approve', 'reject', 'delete', 'cancel', 'reconcile'])
export const anyVerb = ({ node, blocker: { object, verbs = [] } }: Decision): readonly string[] =>
  verbs.map(({ name, label }) =>
    COMMANDS.has(name) ? `  ${label}: phaseline ${name} ${object?.id ?? node.id}` : `  ${label} (${name})`,
  )
