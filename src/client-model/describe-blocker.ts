import { words } from '../core/words.ts'
import { tellTimes } from './times.ts'

interface Blocker {
  readonly reason: string
  readonly message: string
  /** The object that has it itself, if it is another one. */
  readonly source?: { readonly path: string } | null | undefined
  /** The verbs that end a decision. */
  readonly verbs?: readonly { readonly label: string }[] | undefined
}

/** Reasons that the object does not wait for, each with what its message is about. */
const OTHERS: Readonly<Partial<Record<string, string>>> = {
  NOT_IN_JOB: 'left out',
  DECISION: 'to decide',
  REQUEST: 'pending',
}

/** The name of the field that has the blocker. */
export const blockerLabel = ({ reason }: Blocker): string => OTHERS[reason] ?? 'waits for'

/** e.g. `dependency: Depends on db, which is INIT.`, or `shop/deploy-items/db: agent: Waits for …` of another object. */
export function blockerText({ reason, message, source, verbs = [] }: Blocker, now: number): string {
  const choices = verbs.length > 0 ? ` (${verbs.map(({ label }) => label).join(', or ')})` : ''
  const sentence = tellTimes(message, now)
  const of = source ? `${source.path}: ` : ''
  const more = reason === 'LOCK' ? ' `phaseline locks` shows who has it.' : ''
  return reason in OTHERS ? `${of}${sentence}${choices}` : `${of}${words(reason)}: ${sentence}${more}`
}

/** Both in one. */
export const describeBlocker = (blocker: Blocker, now: number): string =>
  blocker.reason in OTHERS ? blockerText(blocker, now) : `${blockerLabel(blocker)} ${blockerText(blocker, now)}`
